#include "authorization_targets.hpp"

#include "abac/policy.hpp"
#include "backplane/kit/kubeconfig.hpp"
#include "config/configuration.hpp"
#include "require.hpp"

namespace backplane::fuzz {

// Checks the number of rules of an accepted policy, and that no rule has "*" as its user or group: the parser replaces it.
void abac_policies(std::string_view bytes) {
  const auto policy = authorization::parse_abac_policy(bytes, "f");
  if (!policy.ok()) {
    FUZZ_REQUIRE(policy.status().message().starts_with("error reading policy file f"));
    return;
  }
  FUZZ_REQUIRE(policy->unversioned <= policy->rules.size());
  FUZZ_REQUIRE(policy->rules.size() <= bytes.size());
  for (const auto& rule : policy->rules) FUZZ_REQUIRE(rule.user != "*" && rule.group != "*");
}

// Checks an accepted configuration: values are within their limits, and only authorizers of type Webhook have a webhook.
void authorization_configurations(std::string_view bytes) {
  const auto config = authorization::load_configuration(bytes);
  if (!config.ok()) {
    FUZZ_REQUIRE(!config.status().message().empty());
    return;
  }
  FUZZ_REQUIRE(!config->authorizers.empty());
  for (const auto& each : config->authorizers) {
    FUZZ_REQUIRE((each.type == "Webhook") == each.webhook.has_value());
    if (!each.webhook) continue;
    FUZZ_REQUIRE(each.webhook->timeout.count() > 0 && each.webhook->timeout <= std::chrono::seconds(30));
    FUZZ_REQUIRE(each.webhook->authorized_ttl.count() > 0 && each.webhook->unauthorized_ttl.count() > 0);
    FUZZ_REQUIRE(each.webhook->kubeconfig.has_value());
    FUZZ_REQUIRE(each.webhook->match_conditions.size() <= 64);
  }
  const auto again = authorization::load_configuration(bytes);
  FUZZ_REQUIRE(again.ok() && *again == *config);
}

// Checks that an accepted kubeconfig with credentials uses TLS.
void kubeconfigs(std::string_view bytes) {
  const auto server = kit::parse_kubeconfig(bytes, "f");
  if (!server.ok()) {
    FUZZ_REQUIRE(server.status().message().starts_with("f: "));
    return;
  }
  FUZZ_REQUIRE(server->path.starts_with('/'));
  const bool tls = server->client.server.starts_with("https://");
  FUZZ_REQUIRE(tls || server->client.server.starts_with("http://"));
  FUZZ_REQUIRE(tls || (server->headers.empty() && server->client.token.empty() && server->client.client_key.empty()));
}

}  // namespace backplane::fuzz
