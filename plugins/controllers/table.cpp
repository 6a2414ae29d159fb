#include "table.hpp"

#include "accounts/controllers.hpp"
#include "bootstrap/controllers.hpp"
#include "certificates/controllers.hpp"
#include "gc/controllers.hpp"
#include "policies/controllers.hpp"
#include "quota/controllers.hpp"
#include "rbac/controllers.hpp"
#include "storage/controllers.hpp"
#include "volumes/controllers.hpp"
#include "workloads/controllers.hpp"

namespace backplane::controllers {
namespace {

const GroupVersionResource kNamespaces{"", "v1", "namespaces"};
const GroupVersionResource kAccounts{"", "v1", "serviceaccounts"};
const GroupVersionResource kConfigMaps{"", "v1", "configmaps"};
const GroupVersionResource kSecrets{"", "v1", "secrets"};
const GroupVersionResource kPods{"", "v1", "pods"};
const GroupVersionResource kNodes{"", "v1", "nodes"};
const GroupVersionResource kClaims{"", "v1", "persistentvolumeclaims"};
const GroupVersionResource kVolumes{"", "v1", "persistentvolumes"};
const GroupVersionResource kQuotas{"", "v1", "resourcequotas"};
const GroupVersionResource kMigrations{"storagemigration.k8s.io", "v1beta1", "storageversionmigrations"};
const GroupVersionResource kJobs{"batch", "v1", "jobs"};
const GroupVersionResource kRequests{"certificates.k8s.io", "v1", "certificatesigningrequests"};
const GroupVersionResource kPolicies{"admissionregistration.k8s.io", "v1", "validatingadmissionpolicies"};
const GroupVersionResource kClusterRoles{"rbac.authorization.k8s.io", "v1", "clusterroles"};

}  // namespace

const std::vector<ControllerRow>& controller_table() {
  // clang-format off
  static const std::vector<ControllerRow> table = {
      {"serviceaccount-token-controller", "serviceaccount-token", "", true, start_token_secrets, {kSecrets, kAccounts}},
      {"serviceaccount-controller", "serviceaccount", "service-account-controller", true, start_service_accounts, {kNamespaces, kAccounts}},
      {"root-ca-certificate-publisher-controller", "root-ca-cert-publisher", "root-ca-cert-publisher", true, start_root_ca_publisher, {kNamespaces, kConfigMaps}},
      {"garbage-collector-controller", "garbagecollector", "generic-garbage-collector", true, start_garbage_collector, {}},
      {"resourcequota-controller", "resourcequota", "resourcequota-controller", true, start_resource_quota, {kQuotas}},
      {"ttl-after-finished-controller", "ttl-after-finished", "ttl-after-finished-controller", true, start_ttl_after_finished, {kJobs}},
      {"pod-garbage-collector-controller", "podgc", "pod-garbage-collector", true, start_pod_collector, {kPods, kNodes}},
      {"validatingadmissionpolicy-status-controller", "", "validatingadmissionpolicy-status-controller", true, start_policy_status, {kPolicies}},
      {"clusterrole-aggregation-controller", "clusterrole-aggregation", "clusterrole-aggregation-controller", true, start_cluster_role_aggregation, {kClusterRoles}},
      {"certificatesigningrequest-approving-controller", "csrapproving", "certificate-controller", true, start_request_approver, {kRequests}},
      {"certificatesigningrequest-signing-controller", "csrsigning", "certificate-controller", true, start_request_signer, {kRequests}},
      {"certificatesigningrequest-cleaner-controller", "csrcleaner", "certificate-controller", true, start_request_cleaner, {kRequests}},
      {"persistentvolumeclaim-protection-controller", "pvc-protection", "pvc-protection-controller", true, start_claim_protection, {kClaims, kPods}},
      {"persistentvolume-protection-controller", "pv-protection", "pv-protection-controller", true, start_volume_protection, {kVolumes}},
      {"legacy-serviceaccount-token-cleaner-controller", "legacy-service-account-token-cleaner", "legacy-service-account-token-cleaner", true, start_legacy_token_cleaner, {kSecrets, kAccounts, kPods, kConfigMaps}},
      {"storage-version-migrator-controller", "svm", "storage-version-migrator-controller", true, start_storage_version_migrator, {kMigrations}},
      {"bootstrap-signer-controller", "bootstrapsigner", "bootstrap-signer", false, start_bootstrap_signer, {kSecrets, kConfigMaps}},
      {"token-cleaner-controller", "tokencleaner", "token-cleaner", false, start_token_cleaner, {kSecrets}},
  };
  // clang-format on
  return table;
}

}  // namespace backplane::controllers
