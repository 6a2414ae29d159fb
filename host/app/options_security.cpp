#include <algorithm>
#include <set>

#include "admission/plugin_order.hpp"
#include "app/options.hpp"
#include "security/authorization.hpp"

namespace backplane {
void AuthenticationOptions::add_flags(FlagSet& flags) {
  flags.section("Authentication");
  flags.add("anonymous-auth", &anonymous,
            "Serve requests without credentials as system:anonymous, who may read health and version; else they get 401.");
  flags.add("client-ca-file", &client_ca_file,
            "Certificate authorities of client certificates, PEM: the common name becomes the user, organizations become groups. Read "
            "again when it "
            "changes. The authority in --data-dir is always trusted too.");
  flags.pass_on("api-audiences", FlagType::kStrings, "",
                "Audiences of tokens that name none. Left out: the issuers of service account tokens.");
  flags.accept("authentication-config", FlagType::kString, "", "File with an AuthenticationConfiguration.");
  flags.accept("authentication-token-webhook-cache-ttl", FlagType::kDuration, "2m0s", "How long answers of the token webhook are kept.");
  flags.accept("authentication-token-webhook-config-file", FlagType::kString, "", "Kubeconfig of the token webhook.");
  flags.accept("authentication-token-webhook-version", FlagType::kString, "v1beta1", "Version of TokenReview sent to it.");
  flags.accept("enable-bootstrap-token-auth", FlagType::kBool, "false", "Let bootstrap tokens in kube-system join nodes.");
  flags.accept("oidc-ca-file", FlagType::kString, "", "Certificate authority of the OpenID issuer.");
  flags.accept("oidc-client-id", FlagType::kString, "", "Client that OpenID tokens must be issued for.");
  flags.accept("oidc-groups-claim", FlagType::kString, "", "Claim that holds the groups.");
  flags.accept("oidc-groups-prefix", FlagType::kString, "", "What groups from OpenID begin with.");
  flags.accept("oidc-issuer-url", FlagType::kString, "", "The OpenID issuer, https only.");
  flags.accept("oidc-required-claim", FlagType::kMap, "", "key=value that a token must hold. May be repeated.");
  flags.accept("oidc-signing-algs", FlagType::kStrings, "RS256", "Signature algorithms that are accepted.");
  flags.accept("oidc-username-claim", FlagType::kString, "sub", "Claim that holds the user's name.");
  flags.accept("oidc-username-prefix", FlagType::kString, "", "What user names from OpenID begin with; - for nothing.");
  flags.add("requestheader-allowed-names", &request_header.allowed_names,
            "Common names of front proxies that are trusted; empty: any that verifies.");
  flags.add("requestheader-client-ca-file", &request_header.client_ca_file,
            "Certificate authority of front proxies, which say in headers on whose behalf they ask. Read again when it changes.");
  flags.add("requestheader-extra-headers-prefix", &request_header.extra_prefixes, "What headers with further user facts begin with.");
  flags.add("requestheader-group-headers", &request_header.group_headers, "Headers that hold groups.");
  flags.add("requestheader-uid-headers", &request_header.uid_headers, "Headers that hold the user's uid.");
  flags.add("requestheader-username-headers", &request_header.username_headers, "Headers that hold the user's name.");
  flags.pass_on("service-account-extend-token-expiration", FlagType::kBool, "true",
                "Let tokens that were mounted the old way live for a year.");
  flags.pass_on("service-account-issuer", FlagType::kStringArray, "",
                "Who issues service account tokens. May be repeated; the first signs. Left out: https://kubernetes.");
  flags.pass_on("service-account-jwks-uri", FlagType::kString, "", "Where the discovery document says the keys are.");
  flags.pass_on("service-account-key-file", FlagType::kStringArray, "",
                "Keys of service account tokens that are published at /openid/v1/jwks. May be repeated. Unset: that of "
                "--service-account-signing-key-file.");
  flags.accept("service-account-lookup", FlagType::kBool, "true", "Check that the service account of a token still exists.");
  flags.pass_on("service-account-max-token-expiration", FlagType::kDuration, "0s", "Longest life of a token that is asked for.");
  flags.accept("token-auth-file", FlagType::kString, "", "CSV of token,user,uid,groups.");
}

void AuthorizationOptions::add_flags(FlagSet& flags) {
  flags.section("Authorization");
  flags.add(
      "authorization-mode", &modes,
      "Authorizers in order: AlwaysAllow, AlwaysDeny, ABAC, Webhook, RBAC, Node. Of these, AlwaysAllow and AlwaysDeny are built in. Unset: "
      "system:masters may do everything, everybody may read health and version, and plugins decide the rest.");
  flags.accept("authorization-config", FlagType::kString, "", "File with an AuthorizationConfiguration.");
  flags.accept("authorization-policy-file", FlagType::kString, "", "ABAC policy, one JSON object a line.");
  flags.accept("authorization-webhook-cache-authorized-ttl", FlagType::kDuration, "5m0s", "How long a yes of the webhook is kept.");
  flags.accept("authorization-webhook-cache-unauthorized-ttl", FlagType::kDuration, "30s", "How long a no of the webhook is kept.");
  flags.accept("authorization-webhook-config-file", FlagType::kString, "", "Kubeconfig of the authorization webhook.");
  flags.accept("authorization-webhook-version", FlagType::kString, "v1beta1", "Version of SubjectAccessReview sent to it.");
}

void AuthorizationOptions::validate(Problems& problems) const {
  std::set<std::string_view> seen;
  std::string repeated;
  for (const auto& mode : modes) {
    if (!is_authorization_mode(mode)) problems.push_back("authorization-mode " + quoted(mode) + " is not a valid mode");
    if (!seen.insert(mode).second) repeated = mode;
  }
  if (!repeated.empty()) problems.push_back("authorization-mode has mode " + quoted(repeated) + " specified more than once");
}

void ApiEnablementOptions::add_flags(FlagSet& flags) {
  flags.section("API enablement");
  flags.add("runtime-config", FlagType::kMap, &runtime_config,
            "key=true|false pairs that switch APIs: v1, group/version, group/version/resource, api/all, api/ga, api/beta, api/alpha.");
}

void AdmissionOptions::add_flags(FlagSet& flags) {
  flags.section("Admission");
  flags.add("enable-admission-plugins", &enable, "Admission plugins that run beside those that run by default; the order does not matter.");
  flags.add("disable-admission-plugins", &disable, "Admission plugins that do not run though they would by default.");
  flags.add("admission-control", &only,
            "DEPRECATED: use --enable-admission-plugins and --disable-admission-plugins. Of kube-apiserver's plugins, those that run.");
  flags.add("admission-control-config-file", &control_config_file, "File with an AdmissionConfiguration.");
  flags.accept("default-not-ready-toleration-seconds", FlagType::kInt, "300", "Toleration of not-ready that pods get without one.");
  flags.accept("default-unreachable-toleration-seconds", FlagType::kInt, "300", "Toleration of unreachable that pods get without one.");
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
  problems.push_back("admission-control and enable-admission-plugins/disable-admission-plugins flags are mutually exclusive");
}

}  // namespace backplane
