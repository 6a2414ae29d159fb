#include "webhooks/rows.hpp"

#include <array>

#include "webhooks/mutating_webhooks.hpp"
#include "webhooks/validating_webhooks.hpp"

namespace backplane::admission {
namespace {

template <class WebhookPluginType>
Result<std::shared_ptr<AdmissionPlugin>> make_webhook_plugin(Services& services, const AdmissionPluginConfig& config) {
  auto configuration = webhooks::parse_webhook_configuration(config.configuration, services.gate("ManifestBasedAdmissionControlConfig"));
  if (!configuration.ok()) return std::move(configuration.status());
  const std::string directory = configuration->manifests_directory;
  auto plugin = std::make_shared<WebhookPluginType>(services, std::move(*configuration));
  if (Status started = plugin->start(directory); !started.ok()) return started;
  return std::shared_ptr<AdmissionPlugin>(std::move(plugin));
}

constexpr std::array kWebhookRows = {
    PluginRow{"MutatingAdmissionWebhook", &make_webhook_plugin<webhooks::MutatingWebhooks>},
    PluginRow{"ValidatingAdmissionWebhook", &make_webhook_plugin<webhooks::ValidatingWebhooks>},
};

}  // namespace

std::span<const PluginRow> webhook_plugins() { return kWebhookRows; }

}  // namespace backplane::admission
