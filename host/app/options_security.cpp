#include <algorithm>
#include <set>

#include "admission/plugin_order.hpp"
#include "app/options.hpp"
#include "security/authorization.hpp"

namespace backplane {
void AuthenticationOptions::add_flags(FlagSet& flags) {
  flags.section("Authentication");
  flags.add("anonymous-auth", &anonymous,
            "Treat requests without credentials as system:anonymous, which may read health and version. false: they get 401.");
  flags.add("client-ca-file", &client_ca_file,
            "CA certificates of client certificates, PEM; the common name is the user, organizations are groups. Reloaded when the file "
            "changes. The CA in --data-dir is always accepted, too.");
  flags.forward("api-audiences", FlagType::kStrings, "",
                "Audiences of tokens that have none. Unset: the issuers of service account tokens.");
  flags.forward(
      "authentication-config", FlagType::kString, "",
      "File with an AuthenticationConfiguration: issuers of JSON Web Tokens, paths without authentication. Reloaded when it changes.");
  flags.forward("authentication-token-webhook-cache-ttl", FlagType::kDuration, "2m0s",
                "Time for which results of the token webhook are cached.");
  flags.forward("authentication-token-webhook-config-file", FlagType::kString, "", "Kubeconfig of the token webhook.");
  flags.forward("authentication-token-webhook-version", FlagType::kString, "v1beta1",
                "Version of the TokenReview that the webhook receives.");
  flags.forward("enable-bootstrap-token-auth", FlagType::kBool, "false", "Accept bootstrap tokens from secrets in kube-system.");
  flags.forward("oidc-ca-file", FlagType::kString, "", "CA certificates of the OpenID issuer.");
  flags.forward("oidc-client-id", FlagType::kString, "", "Client ID that OpenID tokens must be issued for.");
  flags.forward("oidc-groups-claim", FlagType::kString, "", "Claim with the groups of the user.");
  flags.forward("oidc-groups-prefix", FlagType::kString, "", "Prefix of groups from OpenID tokens.");
  flags.forward("oidc-issuer-url", FlagType::kString, "", "URL of the OpenID issuer; https only.");
  flags.forward("oidc-required-claim", FlagType::kMap, "", "key=value that a token must have. May be repeated.");
  flags.forward("oidc-signing-algs", FlagType::kStrings, "RS256", "Accepted signature algorithms.");
  flags.forward("oidc-username-claim", FlagType::kString, "sub", "Claim with the name of the user.");
  flags.forward("oidc-username-prefix", FlagType::kString, "", "Prefix of user names from OpenID tokens; -: no prefix.");
  flags.add("requestheader-allowed-names", &request_header.allowed_names,
            "Common names of accepted front proxies. Empty: any name, if the certificate verifies.");
  flags.add("requestheader-client-ca-file", &request_header.client_ca_file,
            "CA certificates of front proxies, whose headers name the user of a request. Reloaded when the file changes.");
  flags.add("requestheader-extra-headers-prefix", &request_header.extra_prefixes, "Prefixes of headers with additional user attributes.");
  flags.add("requestheader-group-headers", &request_header.group_headers, "Headers with the groups of the user.");
  flags.add("requestheader-uid-headers", &request_header.uid_headers, "Headers with the UID of the user.");
  flags.add("requestheader-username-headers", &request_header.username_headers, "Headers with the name of the user.");
  flags.forward("service-account-extend-token-expiration", FlagType::kBool, "true",
                "Extend the validity of tokens that are mounted into pods to up to a year.");
  flags.forward("service-account-issuer", FlagType::kStringArray, "",
                "Issuer of service account tokens. May be repeated; new tokens contain the first one. Unset: https://kubernetes.");
  flags.forward("service-account-jwks-uri", FlagType::kString, "", "URI of the keys in the OpenID discovery document.");
  flags.forward("service-account-key-file", FlagType::kStringArray, "",
                "Public keys that verify service account tokens, published at /openid/v1/jwks. May be repeated. Unset: the key of "
                "--service-account-signing-key-file.");
  flags.forward("service-account-lookup", FlagType::kBool, "true",
                "Verify that the secret and the service account of a legacy token exist.");
  flags.forward("service-account-max-token-expiration", FlagType::kDuration, "0s", "Maximum validity of a requested token. 0: no limit.");
  flags.forward("token-auth-file", FlagType::kString, "", "CSV file of token,user,uid,groups.");
}

void AuthorizationOptions::add_flags(FlagSet& flags) {
  flags.section("Authorization");
  flags.add(
      "authorization-mode", &modes,
      "Authorizers in order: AlwaysAllow, AlwaysDeny, ABAC, Webhook, RBAC, Node. The first one that allows or denies decides; requests of "
      "system:masters are always allowed. Unset: Node,RBAC.");
  flags.forward("authorization-config", FlagType::kString, "",
                "File with an AuthorizationConfiguration, reloaded when it changes. Not together with --authorization-mode and "
                "--authorization-webhook-*.");
  flags.forward("authorization-policy-file", FlagType::kString, "", "File with the policy of the mode ABAC, one JSON object per line.");
  flags.forward("authorization-webhook-cache-authorized-ttl", FlagType::kDuration, "5m0s",
                "Time for which allowed decisions of the webhook are cached. 0: not cached.");
  flags.forward("authorization-webhook-cache-unauthorized-ttl", FlagType::kDuration, "30s",
                "Time for which other decisions of the webhook are cached. 0: not cached.");
  flags.forward("authorization-webhook-config-file", FlagType::kString, "", "Kubeconfig of the webhook of the mode Webhook.");
  flags.forward("authorization-webhook-version", FlagType::kString, "v1beta1",
                "Version of the SubjectAccessReview that the webhook receives: v1 or v1beta1.");
}

// The checks of upstream's BuiltInAuthorizationOptions.Validate. The plugin that reads the files checks their contents.
void AuthorizationOptions::validate(const FlagSet& flags, Problems& problems) const {
  if (!flags.text("authorization-config").value_or("").empty()) {
    const bool others = flags.changed("authorization-mode") || flags.changed("authorization-webhook-config-file") ||
                        flags.changed("authorization-webhook-version") || flags.changed("authorization-webhook-cache-authorized-ttl") ||
                        flags.changed("authorization-webhook-cache-unauthorized-ttl");
    if (others) {
      problems.emplace_back(
          "--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined");
    }
    return;
  }
  const bool policy = !flags.text("authorization-policy-file").value_or("").empty();
  const bool webhook = !flags.text("authorization-webhook-config-file").value_or("").empty();
  std::set<std::string_view> seen;
  std::string all;
  for (const auto& mode : modes) {
    if (!is_authorization_mode(mode)) problems.push_back("authorization-mode " + backplane::quoted(mode) + " is not a valid mode");
    if (mode == "ABAC" && !policy) problems.emplace_back("authorization-mode ABAC's authorization policy file not passed");
    if (mode == "Webhook" && !webhook) problems.emplace_back("authorization-mode Webhook's authorization config file not passed");
    seen.insert(mode);
    all.append(all.empty() ? "" : " ").append(backplane::quoted(mode));
  }
  if (policy && !seen.contains("ABAC")) problems.emplace_back("cannot specify --authorization-policy-file without mode ABAC");
  if (webhook && !seen.contains("Webhook"))
    problems.emplace_back("cannot specify --authorization-webhook-config-file without mode Webhook");
  if (seen.size() != modes.size()) problems.push_back("authorization-mode [" + all + "] has mode specified more than once");
}

void ApiEnablementOptions::add_flags(FlagSet& flags) {
  flags.section("API enablement");
  flags.add(
      "runtime-config", FlagType::kMap, &runtime_config,
      "key=true|false pairs that enable or disable APIs: v1, group/version, group/version/resource, api/all, api/ga, api/beta, api/alpha.");
}

void AdmissionOptions::add_flags(FlagSet& flags) {
  flags.section("Admission");
  flags.add("enable-admission-plugins", &enable,
            "Admission plugins to enable in addition to the default ones; their order does not matter.");
  flags.add("disable-admission-plugins", &disable, "Default admission plugins to disable.");
  flags.add(
      "admission-control", &only,
      "DEPRECATED: use --enable-admission-plugins and --disable-admission-plugins. The admission plugins of kube-apiserver that run.");
  flags.add("admission-control-config-file", &control_config_file, "File with an AdmissionConfiguration.");
  flags.forward("default-not-ready-toleration-seconds", FlagType::kInt, "300",
                "tolerationSeconds of the toleration for not-ready nodes that pods get by default.");
  flags.forward("default-unreachable-toleration-seconds", FlagType::kInt, "300",
                "tolerationSeconds of the toleration for unreachable nodes that pods get by default.");
}

void AdmissionOptions::complete() {
  mixed = !only.empty() && !(enable.empty() && disable.empty());
  if (only.empty() || mixed) return;
  enable = only;
  for (const auto& each : upstream_admission_plugins()) {
    if (std::find(only.begin(), only.end(), each.name) == only.end()) disable.emplace_back(each.name);
  }
}

void AdmissionOptions::validate(Problems& problems) const {
  if (!mixed) return;
  problems.push_back("--admission-control: must not be combined with --enable-admission-plugins and --disable-admission-plugins");
}

}  // namespace backplane
