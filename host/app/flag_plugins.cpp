#include "app/flag_plugins.hpp"

#include <string_view>

namespace backplane {
namespace {

struct FlagPlugin {
  std::string_view flag, plugin;
};
constexpr FlagPlugin kFlagPlugins[] = {
    {"audit-log-path", "audit"},
    {"audit-policy-file", "audit"},
    {"audit-webhook-config-file", "audit"},
    {"authentication-config", "authentication"},
    {"authentication-token-webhook-config-file", "authentication"},
    {"authorization-config", "authorization"},
    {"authorization-policy-file", "authorization"},
    {"authorization-webhook-config-file", "authorization"},
    {"enable-bootstrap-token-auth", "authentication"},
    {"cluster-signing-cert-file", "controllers"},
    {"controllers", "controllers"},
    {"encryption-provider-config", "encryption"},
    {"oidc-ca-file", "authentication"},
    {"oidc-client-id", "authentication"},
    {"oidc-groups-claim", "authentication"},
    {"oidc-groups-prefix", "authentication"},
    {"oidc-issuer-url", "authentication"},
    {"oidc-required-claim", "authentication"},
    {"oidc-signing-algs", "authentication"},
    {"oidc-username-claim", "authentication"},
    {"oidc-username-prefix", "authentication"},
    {"service-account-signing-endpoint", "authentication"},
    {"service-account-signing-endpoint", "core"},
    {"token-auth-file", "authentication"},
};

}  // namespace

std::map<std::string, std::string> plugins_of_flags(const FlagSet& flags) {
  std::map<std::string, std::string> out;
  for (const FlagPlugin& row : kFlagPlugins) {
    if (!flags.has_default(row.flag)) out.emplace(row.plugin, row.flag);
  }
  return out;
}

}  // namespace backplane
