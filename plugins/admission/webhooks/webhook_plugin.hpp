// The common part of both webhook plugins: the watched configurations, the namespaces, and the decision without waiting for writes that no
// webhook matches.
//
// Thread-safety: const methods from any thread.
// Lifetime:      the services outlive the plugin.
// Errors:        a configuration of the plugin that cannot be used fails startup.
#pragma once

#include <atomic>
#include <memory>

#include "common/services.hpp"
#include "webhooks/hook_call.hpp"
#include "webhooks/hook_match.hpp"
#include "webhooks/hook_source.hpp"

namespace backplane::admission::webhooks {

class WebhookPlugin : public AdmissionPlugin {
 public:
  WebhookPlugin(Services& services, HookType type, WebhookConfiguration configuration);

  // Loads the manifests and follows them; call it once. Errors: manifests that cannot be used.
  Status start(const std::string& manifests_directory);
  bool handles(AdmissionOperation) const noexcept override { return true; }
  bool ready() const noexcept override;
  // Webhooks get whole objects.
  bool reads_managed_fields() const noexcept override { return source_->any(); }

 protected:
  // False if no webhook is called for the write; does not wait.
  bool may_call_any(const AdmissionAttributes& attributes) const;
  Host& host() const noexcept { return runtime_.host; }
  const HookRuntime& runtime() const noexcept { return runtime_; }
  const NamespaceLabels& namespaces() const noexcept { return namespaces_; }
  // The webhooks that the write may concern. For a write of a webhook configuration or admission policy, these are only the webhooks of
  // manifests.
  std::shared_ptr<const Hooks> hooks_for(const AdmissionAttributes& attributes) const;

 private:
  const HookType type_;
  const HookRuntime runtime_;
  const NamespaceLabels namespaces_;
  const Lister configurations_;
  const std::shared_ptr<HookSource> source_;
  mutable std::atomic<bool> ready_{false};
};

}  // namespace backplane::admission::webhooks
