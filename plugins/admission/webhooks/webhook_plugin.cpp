#include "webhooks/webhook_plugin.hpp"

#include <algorithm>

#include "manifests/manifest_source.hpp"

namespace backplane::admission::webhooks {
namespace {

GroupVersionResource configurations_of(HookType type) {
  return {"admissionregistration.k8s.io", "v1",
          type == HookType::kMutating ? "mutatingwebhookconfigurations" : "validatingwebhookconfigurations"};
}

}  // namespace

WebhookPlugin::WebhookPlugin(Services& services, HookType type, WebhookConfiguration configuration)
    : type_(type),
      runtime_{services.host(), configuration.chain_budget},
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

Status WebhookPlugin::start(const std::string& manifests_directory) {
  if (manifests_directory.empty()) return {};
  const bool mutating = type_ == HookType::kMutating;
  auto source = std::make_shared<manifests::ManifestSource>(
      host(), mutating ? manifests::kMutatingWebhooks : manifests::kValidatingWebhooks, name(), manifests_directory,
      [hooks = source_](const manifests::ManifestObjects& objects) { hooks->set_static(objects.main); });
  const Status loaded = source->load();
  if (!loaded.ok()) {
    return bad_request("failed to load static webhook manifests from " + backplane::quoted(manifests_directory) + ": " + loaded.message());
  }
  host().spawn("admission-webhook-manifests", manifests::ManifestSource::watch(std::move(source)));
  return {};
}

std::shared_ptr<const Hooks> WebhookPlugin::hooks_for(const AdmissionAttributes& attributes) const {
  return is_exempt(attributes) ? source_->static_hooks() : source_->hooks();
}

bool WebhookPlugin::may_call_any(const AdmissionAttributes& attributes) const {
  if (!source_->any()) return false;
  const auto all = hooks_for(attributes);
  WriteMatch match(host().equivalent_resources(), namespaces_, attributes);
  return std::any_of(all->begin(), all->end(), [&](const HookRef& hook) { return match.may_call(*hook); });
}

}  // namespace backplane::admission::webhooks
