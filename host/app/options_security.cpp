#include <algorithm>
#include <array>
#include <set>

#include "app/options.hpp"

namespace backplane {
namespace {

constexpr std::array<std::string_view, 6> kModes{"AlwaysAllow", "AlwaysDeny", "ABAC", "Webhook", "RBAC", "Node"};

// What kube-apiserver 1.36 has, so that a manifest that names one starts here too.
constexpr std::array<std::string_view, 41> kUpstreamAdmissionPlugins{"AlwaysAdmit",
                                                                     "AlwaysDeny",
                                                                     "AlwaysPullImages",
                                                                     "CertificateApproval",
                                                                     "CertificateSigning",
                                                                     "CertificateSubjectRestriction",
                                                                     "ClusterTrustBundleAttest",
                                                                     "DefaultIngressClass",
                                                                     "DefaultStorageClass",
                                                                     "DefaultTolerationSeconds",
                                                                     "DenyServiceExternalIPs",
                                                                     "EventRateLimit",
                                                                     "ExtendedResourceToleration",
                                                                     "ImagePolicyWebhook",
                                                                     "JobValidation",
                                                                     "LimitPodHardAntiAffinityTopology",
                                                                     "LimitRanger",
                                                                     "MutatingAdmissionPolicy",
                                                                     "MutatingAdmissionWebhook",
                                                                     "NamespaceAutoProvision",
                                                                     "NamespaceExists",
                                                                     "NamespaceLifecycle",
                                                                     "NodeDeclaredFeatureValidator",
                                                                     "NodeRestriction",
                                                                     "OwnerReferencesPermissionEnforcement",
                                                                     "PersistentVolumeClaimResize",
                                                                     "PodGroupProtection",
                                                                     "PodGroupWorkloadExists",
                                                                     "PodNodeSelector",
                                                                     "PodResizeValidator",
                                                                     "PodSecurity",
                                                                     "PodTolerationRestriction",
                                                                     "PodTopologyLabels",
                                                                     "Priority",
                                                                     "ResourceQuota",
                                                                     "RuntimeClass",
                                                                     "ServiceAccount",
                                                                     "StorageObjectInUseProtection",
                                                                     "TaintNodesByCondition",
                                                                     "ValidatingAdmissionPolicy",
                                                                     "ValidatingAdmissionWebhook"};

template <class List>
bool has(const List& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

}  // namespace

void AuthenticationOptions::add_flags(FlagSet& flags) {
  flags.section("Authentication");
  flags.add("anonymous-auth", &anonymous,
            "Serve requests without credentials as system:anonymous, who may read health and version; else they get 401.");
  flags.add("client-ca-file", &client_ca_file,
            "Certificate authorities of client certificates, PEM: the common name becomes the user, organizations become groups. Read "
            "again when it "
            "changes. The authority in --data-dir is always trusted too.");
  flags.accept("api-audiences", FlagType::kStrings, "", "Audiences that tokens must be meant for.");
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
  flags.accept("requestheader-allowed-names", FlagType::kStrings, "",
               "Common names of front proxies that are trusted; empty: any that verifies.");
  flags.accept("requestheader-client-ca-file", FlagType::kString, "", "Certificate authority of front proxies.");
  flags.accept("requestheader-extra-headers-prefix", FlagType::kStrings, "", "What headers with further user facts begin with.");
  flags.accept("requestheader-group-headers", FlagType::kStrings, "", "Headers that hold groups.");
  flags.accept("requestheader-uid-headers", FlagType::kStrings, "", "Headers that hold the user's uid.");
  flags.accept("requestheader-username-headers", FlagType::kStrings, "", "Headers that hold the user's name.");
  flags.accept("service-account-extend-token-expiration", FlagType::kBool, "true",
               "Let tokens that were mounted the old way live for a year.");
  flags.accept("service-account-issuer", FlagType::kStringArray, "",
               "Who issues service account tokens. May be repeated; the first signs.");
  flags.accept("service-account-jwks-uri", FlagType::kString, "", "Where the discovery document says the keys are.");
  flags.accept("service-account-key-file", FlagType::kStringArray, "",
               "Keys that service account tokens are checked with. May be repeated.");
  flags.accept("service-account-lookup", FlagType::kBool, "true", "Check that the service account of a token still exists.");
  flags.accept("service-account-max-token-expiration", FlagType::kDuration, "0s", "Longest life of a token that is asked for.");
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
    if (!has(kModes, mode)) problems.push_back("authorization-mode " + quoted(mode) + " is not a valid mode");
    if (!seen.insert(mode).second) repeated = mode;
  }
  if (!repeated.empty()) problems.push_back("authorization-mode has mode " + quoted(repeated) + " specified more than once");
}

bool AuthorizationOptions::always_allow() const { return has(modes, "AlwaysAllow"); }

void ApiEnablementOptions::add_flags(FlagSet& flags) {
  flags.section("API enablement");
  flags.add("runtime-config", FlagType::kMap, &runtime_config,
            "key=true|false pairs that switch APIs: v1, group/version, group/version/resource, api/all, api/ga, api/beta, api/alpha.");
}

void AdmissionOptions::add_flags(FlagSet& flags) {
  flags.section("Admission");
  flags.add("enable-admission-plugins", &enable, "Admission plugins that run beside those that run by default; the order does not matter.");
  flags.add("disable-admission-plugins", &disable, "Admission plugins that do not run though they would by default.");
  flags.accept("admission-control", FlagType::kStrings, "", "DEPRECATED: use --enable-admission-plugins and --disable-admission-plugins.");
  flags.accept("admission-control-config-file", FlagType::kString, "", "File with an AdmissionConfiguration.");
  flags.accept("default-not-ready-toleration-seconds", FlagType::kInt, "300", "Toleration of not-ready that pods get without one.");
  flags.accept("default-unreachable-toleration-seconds", FlagType::kInt, "300", "Toleration of unreachable that pods get without one.");
}

bool AdmissionOptions::disabled(std::string_view name) const { return has(disable, name); }

void AdmissionOptions::validate(const std::vector<std::string>& registered, Problems& problems,
                                std::vector<std::string>& not_offered) const {
  struct Row {
    std::string_view flag;
    const std::vector<std::string>& names;
    bool wanted;
  };
  for (const Row& row : {Row{"enable-admission-plugins", enable, true}, Row{"disable-admission-plugins", disable, false}}) {
    for (const auto& name : row.names) {
      if (has(registered, name)) continue;
      if (!has(kUpstreamAdmissionPlugins, name)) {
        problems.push_back(std::string(row.flag) + " plugin " + quoted(name) + " is unknown");
      } else if (row.wanted) {
        not_offered.push_back(name);
      }
    }
  }
  std::string both;
  for (const auto& name : enable) {
    if (has(disable, name)) both += (both.empty() ? "" : " ") + name;
  }
  if (!both.empty()) problems.push_back("[" + both + "] in enable-admission-plugins and disable-admission-plugins overlapped");
}

}  // namespace backplane
