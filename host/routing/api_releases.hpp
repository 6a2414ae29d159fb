// The releases that introduce and remove built-in resources, for --emulated-version: of resources of which a version was introduced or
// removed after the oldest release that can be emulated.
//
// Thread-safety: constants.
// Source:        APILifecycleIntroduced and APILifecycleRemoved of k8s.io/api.
#pragma once

#include <span>
#include <string_view>

#include "backplane/core/meta.hpp"
#include "backplane/types/api_lifecycle.hpp"

namespace backplane {

// Three minor releases before this one, as in kube-apiserver.
inline constexpr ApiRelease kOldestEmulated{kApiRelease.major, kApiRelease.minor - 3};

struct ResourceRelease {
  std::string_view group, version, resource;
  ApiRelease introduced;
  ApiRelease removed = {};  // not set: not removed up to now

  bool is_of(const GroupVersionResource& each) const noexcept {
    return each.group == group && each.version == version && each.resource == resource;
  }
  bool is_alpha() const noexcept { return version.find("alpha") != std::string_view::npos; }
  bool served_in(const ApiRelease& release) const noexcept { return introduced <= release && (!removed.known() || release < removed); }
};
// Versions of one resource are in the order of their priority.
std::span<const ResourceRelease> resource_releases() noexcept;
// Null: it is served by every release.
const ResourceRelease* release_of(const GroupVersionResource& resource) noexcept;

}  // namespace backplane
