#include "admission/plugin_order.hpp"

#include <algorithm>
#include <array>

#include "backplane/core/status.hpp"

namespace backplane {
namespace {

constexpr std::array<UpstreamAdmissionPlugin, 41> kUpstream = {{
    {"AlwaysAdmit", false},
    {"NamespaceAutoProvision", false},
    {"NamespaceLifecycle", true},
    {"NamespaceExists", false},
    {"LimitPodHardAntiAffinityTopology", false},
    {"LimitRanger", true},
    {"ServiceAccount", true},
    {"NodeRestriction", false},
    {"TaintNodesByCondition", true},
    {"AlwaysPullImages", false},
    {"ImagePolicyWebhook", false},
    {"PodSecurity", true},
    {"PodNodeSelector", false},
    {"Priority", true},
    {"DefaultTolerationSeconds", true},
    {"PodTolerationRestriction", false},
    {"EventRateLimit", false},
    {"ExtendedResourceToleration", false},
    {"DefaultStorageClass", true},
    {"StorageObjectInUseProtection", true},
    {"PodGroupProtection", true},
    {"OwnerReferencesPermissionEnforcement", false},
    {"PersistentVolumeClaimResize", true},
    {"RuntimeClass", true},
    {"CertificateApproval", true},
    {"CertificateSigning", true},
    {"ClusterTrustBundleAttest", true},
    {"CertificateSubjectRestriction", true},
    {"DefaultIngressClass", true},
    {"DenyServiceExternalIPs", false},
    {"PodTopologyLabels", true},
    {"PodGroupWorkloadExists", true},
    {"NodeDeclaredFeatureValidator", true},
    {"JobValidation", true},
    {"PodResizeValidator", true},
    {"MutatingAdmissionPolicy", true},
    {"MutatingAdmissionWebhook", true},
    {"ValidatingAdmissionPolicy", true},
    {"ValidatingAdmissionWebhook", true},
    {"ResourceQuota", true},
    {"AlwaysDeny", false},
}};

using Names = std::vector<std::string>;

bool has(const Names& names, std::string_view name) { return std::find(names.begin(), names.end(), name) != names.end(); }

std::size_t place_of(const Names& order, std::string_view name) {
  return static_cast<std::size_t>(std::find(order.begin(), order.end(), name) - order.begin());
}

bool is_registered(const std::vector<AdmissionRegistration>& registered, std::string_view name) {
  return std::any_of(registered.begin(), registered.end(), [&](const auto& each) { return each.name == name; });
}

// Inserts a name: directly before the plugin that it must precede, otherwise directly after the plugin that it must follow, otherwise at
// the end.
Status insert(Names& order, const AdmissionRegistration& added) {
  std::size_t first = 0;            // the first possible position
  std::size_t last = order.size();  // the last possible position
  std::string_view follows, precedes;
  for (const auto& name : added.behind) {
    const auto place = place_of(order, name);
    if (place == order.size() || place + 1 <= first) continue;
    first = place + 1;
    follows = name;
  }
  for (const auto& name : added.in_front_of) {
    const auto place = place_of(order, name);
    if (place >= last) continue;
    last = place;
    precedes = name;
  }
  if (first > last) {
    return bad_request("admission plugin " + quoted(added.name) + " cannot run before " + quoted(precedes) + " and after " +
                       quoted(follows));
  }
  const std::size_t place = !precedes.empty() ? last : !follows.empty() ? first : order.size();
  order.insert(order.begin() + static_cast<std::ptrdiff_t>(place), added.name);
  return {};
}

// Returns true if this plugin names another plugin that has not been inserted yet.
bool waits(const AdmissionRegistration& each, const std::vector<const AdmissionRegistration*>& left) {
  return std::any_of(left.begin(), left.end(), [&](const AdmissionRegistration* other) {
    return other != &each && (has(each.in_front_of, other->name) || has(each.behind, other->name));
  });
}

}  // namespace

std::span<const UpstreamAdmissionPlugin> upstream_admission_plugins() noexcept { return kUpstream; }

const UpstreamAdmissionPlugin* find_upstream_admission_plugin(std::string_view name) noexcept {
  const auto* found = std::find_if(kUpstream.begin(), kUpstream.end(), [&](const auto& each) { return each.name == name; });
  return found == kUpstream.end() ? nullptr : found;
}

Result<Names> admission_order(const std::vector<AdmissionRegistration>& registered) {
  Names order;
  for (const auto& each : kUpstream) order.emplace_back(each.name);
  std::vector<const AdmissionRegistration*> left;
  for (const auto& each : registered) {
    if (find_upstream_admission_plugin(each.name) == nullptr) left.push_back(&each);
  }
  while (!left.empty()) {
    auto next = std::find_if(left.begin(), left.end(), [&](const AdmissionRegistration* each) { return !waits(*each, left); });
    if (next == left.end()) return bad_request("the order of admission plugin " + quoted(left.front()->name) + " is circular");
    Status placed = insert(order, **next);
    if (!placed.ok()) return placed;
    left.erase(next);
  }
  return order;
}

Names enabled_admission(const Names& order, const std::vector<AdmissionRegistration>& registered, const Names& enable,
                        const Names& disable) {
  Names names;
  for (const auto& name : order) {
    if (!is_registered(registered, name)) continue;
    const auto* upstream = find_upstream_admission_plugin(name);
    const auto own = std::find_if(registered.begin(), registered.end(), [&](const auto& each) { return each.name == name; });
    const bool by_default = upstream != nullptr ? upstream->on_by_default : own->on_by_default;
    if (has(enable, name) || (by_default && !has(disable, name))) names.push_back(name);
  }
  return names;
}

}  // namespace backplane
