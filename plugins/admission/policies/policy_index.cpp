#include "policies/policy_index.hpp"

#include <algorithm>
#include <array>
#include <mutex>

namespace backplane::admission::policies {
namespace {

struct GroupResourceName {
  std::string_view group, resource;
};

// Policies of the API do not apply to these resources, because they could refuse their own repair. Policies of manifests apply (upstream:
// admissionResources of policy/generic).
constexpr std::array<GroupResourceName, 4> kPolicyResources = {{
    {"admissionregistration.k8s.io", "validatingadmissionpolicies"},
    {"admissionregistration.k8s.io", "validatingadmissionpolicybindings"},
    {"admissionregistration.k8s.io", "mutatingadmissionpolicies"},
    {"admissionregistration.k8s.io", "mutatingadmissionpolicybindings"},
}};
// No policy applies to these resources: reviews are not stored, and their refusal would break a cluster (upstream:
// kubeapiserver/admission/exclusion).
constexpr std::array<GroupResourceName, 6> kExcluded = {{
    {"authentication.k8s.io", "selfsubjectreviews"},
    {"authentication.k8s.io", "tokenreviews"},
    {"authorization.k8s.io", "localsubjectaccessreviews"},
    {"authorization.k8s.io", "selfsubjectaccessreviews"},
    {"authorization.k8s.io", "selfsubjectrulesreviews"},
    {"authorization.k8s.io", "subjectaccessreviews"},
}};

template <class List>
bool is_in(const List& list, const GroupVersionResource& resource) noexcept {
  return std::any_of(list.begin(), list.end(),
                     [&](const GroupResourceName& each) { return each.group == resource.group && each.resource == resource.resource; });
}

bool uses_equivalents(const PolicyHook& hook) noexcept {
  return hook.policy->match.equivalent || std::any_of(hook.bindings.begin(), hook.bindings.end(),
                                                      [](const auto& binding) { return binding->match && binding->match->equivalent; });
}

}  // namespace

PolicyIndex::PolicyIndex(std::vector<PolicyHook> hooks, const EquivalentResources& equivalents)
    : hooks_(std::move(hooks)), equivalents_(equivalents) {
  for (const PolicyHook& hook : hooks_) {
    reads_managed_fields_ = reads_managed_fields_ || hook.policy->uses.managed_fields;
    uses_equivalents_ = uses_equivalents_ || uses_equivalents(hook);
  }
}

std::size_t PolicyIndex::KeyHash::operator()(const KeyView& key) const noexcept {
  std::size_t out = 0;
  for (const std::string_view part : {key.group, key.version, key.resource, key.subresource}) {
    out = out * 1'000'003 ^ std::hash<std::string_view>()(part);
  }
  return out;
}

std::vector<ServedAs> PolicyIndex::equivalents_of(const GroupVersionResource& resource, std::string_view subresource) const {
  std::vector<ServedAs> out;
  if (!uses_equivalents_) return out;
  for (GroupVersionResource& each : equivalents_.equivalents_of(resource, subresource)) {
    if (each == resource) continue;
    GroupVersionKind kind = equivalents_.kind_of(each, subresource);
    out.push_back({std::move(each), std::move(kind)});
  }
  return out;
}

std::shared_ptr<const ResourceTargets> PolicyIndex::make_targets(const WrittenResource& written) const {
  if (is_in(kExcluded, written.resource)) return nullptr;
  const bool only_static = is_in(kPolicyResources, written.resource);
  auto out = std::make_shared<ResourceTargets>();
  out->written = written;
  for (const PolicyHook& hook : hooks_) {
    if (only_static && !hook.is_static) continue;
    PolicyTarget target{&hook, resolve(&hook.policy->match, out->written), {}};
    if (!target.match.possible()) continue;
    bool any = !hook.problem.empty();
    for (const auto& binding : hook.bindings) {
      target.bindings.push_back(resolve(binding->match ? &*binding->match : nullptr, out->written));
      any = any || target.bindings.back().possible();
    }
    if (any) out->targets.push_back(std::move(target));
  }
  return out->targets.empty() ? nullptr : out;
}

std::shared_ptr<const ResourceTargets> PolicyIndex::targets(const GroupVersionResource& resource, std::string_view subresource) const {
  if (hooks_.empty()) return nullptr;
  {
    const std::shared_lock lock(mutex_);
    const auto found = entries_.find(KeyView{resource.group, resource.version, resource.resource, subresource});
    const bool current = found != entries_.end() && (!uses_equivalents_ || Clock::now() - found->second->checked < kCheckEvery);
    if (current) return found->second->targets;
  }
  return refreshed(resource, subresource);
}

std::shared_ptr<const ResourceTargets> PolicyIndex::refreshed(const GroupVersionResource& resource, std::string_view subresource) const {
  std::vector<ServedAs> equivalents = equivalents_of(resource, subresource);
  const std::unique_lock lock(mutex_);
  const KeyView key{resource.group, resource.version, resource.resource, subresource};
  auto found = entries_.find(key);
  if (found == entries_.end()) {
    auto entry = std::make_unique<Entry>(Entry{resource, std::string(subresource), nullptr, equivalents, {}});
    const KeyView own{entry->resource.group, entry->resource.version, entry->resource.resource, entry->subresource};
    entry->targets = make_targets({resource, std::string(subresource), std::move(equivalents)});
    found = entries_.emplace(own, std::move(entry)).first;
  } else if (found->second->equivalents != equivalents) {
    found->second->equivalents = equivalents;
    found->second->targets = make_targets({resource, std::string(subresource), std::move(equivalents)});
  }
  found->second->checked = Clock::now();
  return found->second->targets;
}

}  // namespace backplane::admission::policies
