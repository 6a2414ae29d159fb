// The objects that register a runner in an outer server: a Service, an EndpointSlice, an APIService for each group version, and the webhook
// configurations.
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/extension/extension_settings.hpp"
#include "backplane/core/json.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/rest/api_group.hpp"

namespace backplane {

inline constexpr std::string_view kRunner = "backplane-runner";

// One object as it is applied.
struct RegisteredObject {
  GroupVersionResource resource;
  std::string ns, name;
  Object object;
};

// Where the outer server reaches this server.
struct RunnerAddress {
  std::uint16_t port = 0;
  std::string ca_bundle;  // PEM
};

// The part of a webhook configuration that belongs to one admission rule.
struct WebhookRule {
  std::string name;  // of the admission plugin
  bool mutates = false, validates = false;
  std::vector<std::string> operations;
  struct Match {
    std::string group, version, resource;  // the resource may have a subresource
  };
  std::vector<Match> matches;
};

std::vector<RegisteredObject> api_service_objects(const ExtensionSettings& settings, const std::vector<GroupVersionInfo>& versions,
                                                  const RunnerAddress& address);
std::vector<RegisteredObject> webhook_objects(const ExtensionSettings& settings, const std::vector<WebhookRule>& rules,
                                              const RunnerAddress& address);
// The path at which a rule answers reviews: "/admission-webhooks/mutate/NAME" or "…/validate/NAME".
std::string webhook_path(bool mutating, std::string_view rule);
// The part "https://host:port" of the URLs of webhooks.
std::string webhook_base(const ExtensionSettings& settings, std::uint16_t port);

}  // namespace backplane
