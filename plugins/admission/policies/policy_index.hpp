// A snapshot of the bound policies, and for each resource the policies whose rules name it: a write checks only these.
//
// Thread-safety: immutable apart from the targets, which are made when a resource is first written; any thread.
// Lifetime:      targets are shared; they borrow the index that made them.
// Errors:        none.
#pragma once

#include <chrono>
#include <memory>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "policies/params.hpp"
#include "policies/policy.hpp"

namespace backplane::admission::policies {

// A policy with its bindings.
struct PolicyHook {
  std::shared_ptr<const Policy> policy;
  std::vector<std::shared_ptr<const Binding>> bindings;
  std::shared_ptr<ParamStore> params = nullptr;  // null: the policy has no paramKind, or the kind is not served
  std::string problem = {};                      // not empty: the policy cannot be configured
  bool is_static = false;                        // the policy comes from a manifest
};

// A policy whose rules name the resource of a write.
struct PolicyTarget {
  const PolicyHook* hook = nullptr;
  ResolvedMatch match;
  std::vector<ResolvedMatch> bindings;  // in the order of hook->bindings
};
struct ResourceTargets {
  WrittenResource written;
  std::vector<PolicyTarget> targets;
};

class PolicyIndex {
 public:
  // `hooks`: in the order in which they are evaluated.
  PolicyIndex(std::vector<PolicyHook> hooks, const EquivalentResources& equivalents);

  bool empty() const noexcept { return hooks_.empty(); }
  const std::vector<PolicyHook>& hooks() const noexcept { return hooks_; }
  bool reads_managed_fields() const noexcept { return reads_managed_fields_; }
  // The targets of writes of the resource; null: none.
  std::shared_ptr<const ResourceTargets> targets(const GroupVersionResource& resource, std::string_view subresource) const;

 private:
  using Clock = std::chrono::steady_clock;
  // Versions of custom resources may change without a change of any policy.
  static constexpr std::chrono::seconds kCheckEvery{1};

  struct KeyView {
    std::string_view group, version, resource, subresource;
    bool operator==(const KeyView&) const = default;
  };
  struct Entry {
    GroupVersionResource resource;
    std::string subresource;
    std::shared_ptr<const ResourceTargets> targets;  // null: none
    std::vector<ServedAs> equivalents;
    Clock::time_point checked;
  };
  struct KeyHash {
    std::size_t operator()(const KeyView& key) const noexcept;
  };

  std::vector<ServedAs> equivalents_of(const GroupVersionResource& resource, std::string_view subresource) const;
  std::shared_ptr<const ResourceTargets> make_targets(const WrittenResource& written) const;
  std::shared_ptr<const ResourceTargets> refreshed(const GroupVersionResource& resource, std::string_view subresource) const;

  const std::vector<PolicyHook> hooks_;
  const EquivalentResources& equivalents_;
  bool reads_managed_fields_ = false;
  bool uses_equivalents_ = false;
  mutable std::shared_mutex mutex_;
  mutable std::unordered_map<KeyView, std::unique_ptr<Entry>, KeyHash> entries_;  // keys are views into their entries
};

}  // namespace backplane::admission::policies
