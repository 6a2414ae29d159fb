#include "endpoints/known_kinds.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace backplane::endpoints {
namespace {

// Kinds that are known in any group and version.
constexpr std::array<std::string_view, 5> kUnversioned = {"Status", "APIVersions", "APIGroupList", "APIGroup", "APIResourceList"};
// Kinds that are part of every known group version.
constexpr std::array<std::string_view, 7> kInEveryVersion = {"WatchEvent",    "ListOptions",   "GetOptions",  "DeleteOptions",
                                                             "CreateOptions", "UpdateOptions", "PatchOptions"};

// Versions that are not served, but whose kinds are recognized in a body: old versions, and the review kinds of webhooks.
struct OldVersion {
  std::string_view group;
  std::string_view version;
  std::array<std::string_view, 12> kinds;
};
constexpr std::array<OldVersion, 10> kOldVersions = {{
    {"admission.k8s.io", "v1", {"AdmissionReview"}},
    {"admission.k8s.io", "v1beta1", {"AdmissionReview"}},
    {"imagepolicy.k8s.io", "v1alpha1", {"ImageReview"}},
    {"authentication.k8s.io", "v1alpha1", {"SelfSubjectReview"}},
    {"authentication.k8s.io", "v1beta1", {"SelfSubjectReview", "TokenReview"}},
    {"authorization.k8s.io",
     "v1beta1",
     {"SelfSubjectRulesReview", "SelfSubjectAccessReview", "SubjectAccessReview", "LocalSubjectAccessReview"}},
    {"apps",
     "v1beta1",
     {"Deployment", "DeploymentList", "DeploymentRollback", "Scale", "StatefulSet", "StatefulSetList", "ControllerRevision",
      "ControllerRevisionList"}},
    {"apps",
     "v1beta2",
     {"Deployment", "DeploymentList", "Scale", "StatefulSet", "StatefulSetList", "DaemonSet", "DaemonSetList", "ReplicaSet",
      "ReplicaSetList", "ControllerRevision", "ControllerRevisionList"}},
    {"policy", "v1beta1", {"PodDisruptionBudget", "PodDisruptionBudgetList", "Eviction"}},
    {"extensions",
     "v1beta1",
     {"Deployment", "DeploymentList", "DeploymentRollback", "Scale", "DaemonSet", "DaemonSetList", "Ingress", "IngressList", "ReplicaSet",
      "ReplicaSetList", "NetworkPolicy", "NetworkPolicyList"}},
}};

// Old versions that a resource accepts like its current version.
struct Accepted {
  std::string_view group, kind, given, wanted;
};
constexpr std::array<Accepted, 1> kAccepted = {{{"policy", "Eviction", "v1beta1", "v1"}}};

template <class Words>
bool has(const Words& words, std::string_view word) noexcept {
  return std::find(words.begin(), words.end(), word) != words.end();
}

const OldVersion* find_old(const GroupVersionKind& gvk) noexcept {
  const auto row = std::find_if(kOldVersions.begin(), kOldVersions.end(),
                                [&](const OldVersion& each) { return each.group == gvk.group && each.version == gvk.version; });
  return row == kOldVersions.end() ? nullptr : &*row;
}

bool is_meta_kind(const GroupVersionKind& gvk) noexcept { return has(kUnversioned, gvk.kind) || has(kInEveryVersion, gvk.kind); }

}  // namespace

bool is_known_kind(const Scheme& scheme, const GroupVersionKind& gvk) {
  if (gvk.kind.empty()) return false;
  if (scheme.recognizes(gvk) || has(kUnversioned, gvk.kind)) return true;
  const OldVersion* old = find_old(gvk);
  if (has(kInEveryVersion, gvk.kind)) return old != nullptr || scheme.is_group_version_registered(gvk.group_version());
  return old != nullptr && has(old->kinds, gvk.kind);
}

const Schema* type_of_known(const Scheme& scheme, const GroupVersionKind& gvk) {
  if (const Schema* own = scheme.type_of(gvk)) return own;
  if (!is_meta_kind(gvk)) return nullptr;
  static const auto meta = meta_schemas();
  return meta->find("io.k8s.apimachinery.pkg.apis.meta.v1." + gvk.kind);
}

std::string known_go_type(const GroupVersionKind& gvk) { return (is_meta_kind(gvk) ? "v1" : gvk.version) + "." + gvk.kind; }

bool accepts_version(const GroupVersionKind& given, const GroupVersionKind& wanted) {
  if (given == wanted) return true;
  return std::any_of(kAccepted.begin(), kAccepted.end(), [&](const Accepted& row) {
    return row.group == given.group && row.kind == given.kind && row.given == given.version && row.group == wanted.group &&
           row.kind == wanted.kind && row.wanted == wanted.version;
  });
}

}  // namespace backplane::endpoints
