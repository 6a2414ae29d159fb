#include "webhooks/webhook_plugin.hpp"

#include <algorithm>

namespace backplane::admission::webhooks {
namespace {

GroupVersionResource configurations_of(HookType type) {
  return {"admissionregistration.k8s.io", "v1",
          type == HookType::kMutating ? "mutatingwebhookconfigurations" : "validatingwebhookconfigurations"};
}

}  // namespace

WebhookPlugin::WebhookPlugin(Services& services, HookType type, WebhookConfiguration configuration)
    : runtime_{services.host(), configuration.chain_budget},
      namespaces_(services.host(), services.lister({"", "v1", "namespaces"})),
      configurations_(services.lister(configurations_of(type))),
      source_(std::make_shared<HookSource>(type,
                                           HookParts{services.host(), make_service_resolver(services.host()), std::move(configuration)})) {
  source_->follow(*configurations_.informer());
}

bool WebhookPlugin::ready() const noexcept {
  if (ready_.load(std::memory_order_relaxed)) return true;
  const bool ready = namespaces_.has_synced() && configurations_.has_synced();
  if (ready) ready_.store(true, std::memory_order_relaxed);
  return ready;
}

bool WebhookPlugin::may_call_any(const AdmissionAttributes& attributes) const {
  if (!source_->any() || is_exempt(attributes)) return false;
  const auto all = hooks();
  std::optional<AdmissionAttributes> changed;
  WriteMatch match(host().equivalent_resources(), namespaces_, webhook_attributes(attributes, changed));
  return std::any_of(all->begin(), all->end(), [&](const HookRef& hook) { return match.may_call(*hook); });
}

}  // namespace backplane::admission::webhooks
