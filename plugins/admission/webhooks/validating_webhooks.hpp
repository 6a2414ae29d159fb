// The admission plugin ValidatingAdmissionWebhook: calls all matching webhooks at the same time; any of them may refuse the write.
//
// Thread-safety: const methods from any thread.
// Errors:        the refusal of the first webhook, in their order, that refuses.
// Source:        k8s.io/apiserver/pkg/admission/plugin/webhook/validating.
#pragma once

#include "webhooks/webhook_plugin.hpp"

namespace backplane::admission::webhooks {

class ValidatingWebhooks final : public WebhookPlugin {
 public:
  ValidatingWebhooks(Services& services, WebhookConfiguration configuration)
      : WebhookPlugin(services, HookType::kValidating, std::move(configuration)) {}
  std::string_view name() const noexcept override { return "ValidatingAdmissionWebhook"; }
  bool mutates() const noexcept override { return false; }
  std::optional<Status> validate_now(const AdmissionAttributes& attributes) const override;
  Task<Status> validate(const AdmissionAttributes& attributes) const override;
};

}  // namespace backplane::admission::webhooks
