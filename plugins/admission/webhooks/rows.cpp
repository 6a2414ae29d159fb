#include "webhooks/rows.hpp"

#include <array>

#include "webhooks/mutating_webhooks.hpp"
#include "webhooks/validating_webhooks.hpp"

namespace backplane::admission {
namespace {

template <class WebhookPluginType>
Result<std::shared_ptr<AdmissionPlugin>> make_webhook_plugin(Services& services, const AdmissionPluginConfig& config) {
  auto configuration = webhooks::parse_webhook_configuration(config.configuration);
  if (!configuration.ok()) return std::move(configuration.status());
  return std::shared_ptr<AdmissionPlugin>(std::make_shared<WebhookPluginType>(services, std::move(*configuration)));
}

constexpr std::array kWebhookRows = {
    PluginRow{"MutatingAdmissionWebhook", &make_webhook_plugin<webhooks::MutatingWebhooks>},
    PluginRow{"ValidatingAdmissionWebhook", &make_webhook_plugin<webhooks::ValidatingWebhooks>},
};

}  // namespace

std::span<const PluginRow> webhook_plugins() { return kWebhookRows; }

}  // namespace backplane::admission
