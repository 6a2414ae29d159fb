// The releases that introduced and removed versions of built-in resources, for --emulated-version. The table has only resources of which a
// version was introduced or removed after kOldestEmulated.
//
// Thread-safety: constants.
// Source:        APILifecycleIntroduced and APILifecycleRemoved of k8s.io/api.
#pragma once

#include <span>
#include <string_view>

#include "backplane/core/meta.hpp"
#include "backplane/types/api_lifecycle.hpp"

namespace backplane {

// Three minor releases before this release, as in kube-apiserver.
inline constexpr ApiRelease kOldestEmulated{kApiRelease.major, kApiRelease.minor - 3};

struct ResourceRelease {
  std::string_view group, version, resource;
  ApiRelease introduced;
  ApiRelease removed = {};  // not set: no release has removed it yet

  bool is_of(const GroupVersionResource& each) const noexcept {
    return each.group == group && each.version == version && each.resource == resource;
  }
  bool is_alpha() const noexcept { return version.find("alpha") != std::string_view::npos; }
  bool served_in(const ApiRelease& release) const noexcept { return introduced <= release && (!removed.known() || release < removed); }
};
// Returns the table. The versions of a resource are in the order of their priority.
std::span<const ResourceRelease> resource_releases() noexcept;
// Returns null if the table does not have the resource: every release serves it.
const ResourceRelease* release_of(const GroupVersionResource& resource) noexcept;

}  // namespace backplane
