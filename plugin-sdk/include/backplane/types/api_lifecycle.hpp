// The releases in which a version of a kind is introduced, deprecated and removed, and the kind that replaces it. Upstream generates these
// as APILifecycleIntroduced, APILifecycleDeprecated, APILifecycleRemoved and APILifecycleReplacement. Documents of API groups contain them
// in the member "lifecycle".
//
// Thread-safety: pure functions.
// Errors:        parse functions return nullopt for malformed text.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "backplane/core/meta.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// A Kubernetes release; 0.0 means not set.
struct ApiRelease {
  int major = 0;
  int minor = 0;
  auto operator<=>(const ApiRelease&) const = default;
  bool known() const noexcept { return major != 0 || minor != 0; }
  std::string to_string() const;  // "1.36"
};
// The Kubernetes release whose API this server serves.
inline constexpr ApiRelease kApiRelease{1, 36};
// Parses "1.36".
std::optional<ApiRelease> parse_release(std::string_view text);

// The lifecycle of one version of one kind.
//
//   {"introduced": "1.30", "deprecated": "1.34", "removed": "1.37", "replacement": "tickets.example.com/v2 Ticket"}
struct ApiLifecycle {
  ApiRelease introduced;
  ApiRelease deprecated;         // not set: never deprecated
  ApiRelease removed;            // not set: no removal is announced
  GroupVersionKind replacement;  // empty kind: no replacement is announced

  bool deprecated_in(const ApiRelease& release) const noexcept { return deprecated.known() && deprecated <= release; }
  // The text of the Warning header: "networking.k8s.io/v1beta1 IPAddress is deprecated in v1.34+, unavailable in v1.37+"; empty if the
  // version is never deprecated.
  std::string warning(const GroupVersionKind& kind) const;
};
// Parses "networking.k8s.io/v1 IPAddress".
std::optional<GroupVersionKind> parse_kind(std::string_view text);
// Returns the release of the removal in a text of warning(): "1.37"; empty if the text announces no removal.
std::string removed_release_in(std::string_view warning);

}  // namespace BACKPLANE_API
