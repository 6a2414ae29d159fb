#include "routing/known_versions.hpp"

#include <set>
#include <utility>

namespace backplane {
namespace {

// The group versions for which kube-apiserver 1.36 has types. `in_clients`: client-go has types for them, too.
struct KnownVersion {
  std::string_view group, version;
  bool in_clients;
};
constexpr KnownVersion kKnownVersions[] = {
    {"", "v1", true},
    {"admission.k8s.io", "v1", false},
    {"admission.k8s.io", "v1beta1", false},
    {"admissionregistration.k8s.io", "v1", true},
    {"admissionregistration.k8s.io", "v1alpha1", true},
    {"admissionregistration.k8s.io", "v1beta1", true},
    {"apiextensions.k8s.io", "v1beta1", false},
    {"apiregistration.k8s.io", "v1beta1", false},
    {"apps", "v1", true},
    {"apps", "v1beta1", true},
    {"apps", "v1beta2", true},
    {"authentication.k8s.io", "v1", true},
    {"authentication.k8s.io", "v1alpha1", true},
    {"authentication.k8s.io", "v1beta1", true},
    {"authorization.k8s.io", "v1", true},
    {"authorization.k8s.io", "v1beta1", true},
    {"autoscaling", "v1", true},
    {"autoscaling", "v2", true},
    {"batch", "v1", true},
    {"batch", "v1beta1", true},
    {"certificates.k8s.io", "v1", true},
    {"certificates.k8s.io", "v1alpha1", true},
    {"certificates.k8s.io", "v1beta1", true},
    {"coordination.k8s.io", "v1", true},
    {"coordination.k8s.io", "v1alpha2", true},
    {"coordination.k8s.io", "v1beta1", true},
    {"discovery.k8s.io", "v1", true},
    {"discovery.k8s.io", "v1beta1", true},
    {"events.k8s.io", "v1", true},
    {"events.k8s.io", "v1beta1", true},
    {"extensions", "v1beta1", true},
    {"flowcontrol.apiserver.k8s.io", "v1", true},
    {"flowcontrol.apiserver.k8s.io", "v1beta1", true},
    {"flowcontrol.apiserver.k8s.io", "v1beta2", true},
    {"flowcontrol.apiserver.k8s.io", "v1beta3", true},
    {"imagepolicy.k8s.io", "v1alpha1", false},
    {"internal.apiserver.k8s.io", "v1alpha1", true},
    {"networking.k8s.io", "v1", true},
    {"networking.k8s.io", "v1beta1", true},
    {"node.k8s.io", "v1", true},
    {"node.k8s.io", "v1alpha1", true},
    {"node.k8s.io", "v1beta1", true},
    {"policy", "v1", true},
    {"policy", "v1beta1", true},
    {"rbac.authorization.k8s.io", "v1", true},
    {"rbac.authorization.k8s.io", "v1alpha1", true},
    {"rbac.authorization.k8s.io", "v1beta1", true},
    {"resource.k8s.io", "v1", true},
    {"resource.k8s.io", "v1alpha3", true},
    {"resource.k8s.io", "v1beta1", true},
    {"resource.k8s.io", "v1beta2", true},
    {"scheduling.k8s.io", "v1", true},
    {"scheduling.k8s.io", "v1alpha2", true},
    {"scheduling.k8s.io", "v1beta1", true},
    {"storage.k8s.io", "v1", true},
    {"storage.k8s.io", "v1alpha1", true},
    {"storage.k8s.io", "v1beta1", true},
    {"storagemigration.k8s.io", "v1beta1", true},
};

Object kind_row(std::string_view group, std::string_view kind, std::string_view version) {
  return Object{{"group", group}, {"kind", kind}, {"version", version}};
}

}  // namespace

Array kinds_of_all_versions(const RouteTable& table, std::string_view kind) {
  std::set<std::pair<std::string_view, std::string_view>> versions;
  for (const KnownVersion& each : kKnownVersions) versions.emplace(each.group, each.version);
  const std::vector<const VersionTable*> served = table.versions();
  for (const VersionTable* each : served) {
    if (!each->dynamic) versions.emplace(each->version.group, each->version.version);
  }
  Array out;
  for (const auto& [group, version] : versions) out.emplace_back(kind_row(group, kind, version));
  return out;
}

Array kinds_of_client_versions(std::string_view kind) {
  Array out;
  for (const KnownVersion& each : kKnownVersions) {
    if (each.in_clients) out.emplace_back(kind_row(each.group, kind, each.version));
  }
  return out;
}

}  // namespace backplane
