// The releases in which a version of a kind is introduced, deprecated and removed, and the kind that replaces it: what upstream generates
// as APILifecycleIntroduced, APILifecycleDeprecated, APILifecycleRemoved and APILifecycleReplacement.  Group documents say them
// ("lifecycle").
//
// Thread-safety: pure functions.
// Errors:        a text that is no release or no kind gives nothing.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "backplane/core/meta.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

struct ApiRelease {
  int major = 0;
  int minor = 0;
  auto operator<=>(const ApiRelease&) const = default;
  bool known() const noexcept { return major != 0 || minor != 0; }
  std::string to_string() const;  // "1.36"
};
// The release whose API this server has.
inline constexpr ApiRelease kApiRelease{1, 36};
std::optional<ApiRelease> parse_release(std::string_view text);

struct ApiLifecycle {
  ApiRelease introduced;
  ApiRelease deprecated;         // unknown: not deprecated
  ApiRelease removed;            // unknown: no release is announced
  GroupVersionKind replacement;  // no kind: none is announced

  bool deprecated_in(const ApiRelease& release) const noexcept { return deprecated.known() && deprecated <= release; }
  // "networking.k8s.io/v1beta1 IPAddress is deprecated in v1.34+, unavailable in v1.37+"; empty for one that is never deprecated.
  std::string warning(const GroupVersionKind& kind) const;
};
// "networking.k8s.io/v1 IPAddress".
std::optional<GroupVersionKind> parse_kind(std::string_view text);
// "1.37" of the warning above; empty: it announces no removal.
std::string removed_release_in(std::string_view warning);

}  // namespace BACKPLANE_API
