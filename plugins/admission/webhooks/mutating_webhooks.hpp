// The admission plugin MutatingAdmissionWebhook: calls the matching webhooks one after the other; each may refuse the write or patch its
// object.
//
// Thread-safety: const methods from any thread.
// Errors:        the refusal of the first webhook that refuses.
// Source:        k8s.io/apiserver/pkg/admission/plugin/webhook/mutating.
#pragma once

#include "webhooks/webhook_plugin.hpp"

namespace backplane::admission::webhooks {

class MutatingWebhooks final : public WebhookPlugin {
 public:
  MutatingWebhooks(Services& services, WebhookConfiguration configuration)
      : WebhookPlugin(services, HookType::kMutating, std::move(configuration)) {}
  std::string_view name() const noexcept override { return "MutatingAdmissionWebhook"; }
  bool validates() const noexcept override { return false; }
  std::optional<Status> admit_now(AdmissionAttributes& attributes) const override;
  Task<Status> admit(AdmissionAttributes& attributes) const override;
};

}  // namespace backplane::admission::webhooks
