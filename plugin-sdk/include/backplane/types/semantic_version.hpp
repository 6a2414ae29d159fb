// Semantic versions (semver.org 2.0.0), as github.com/blang/semver parses and orders them.
//
// Thread-safety: values.
// Lifetime:      `prerelease` and `build` are views into the parsed text.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

struct SemanticVersion {
  std::array<std::uint64_t, 3> numbers{};        // major, minor, patch
  std::string_view prerelease = {}, build = {};  // without the leading - and +

  // Parses a version. All three numbers are required and have no leading zeros; a leading "v" is an error. Returns nullopt if `text` is not
  // a version, and then sets `why`, unless it is null, to the library's error text.
  static std::optional<SemanticVersion> parse(std::string_view text, std::string* why = nullptr);
  // Compares the numbers first. A prerelease precedes its release; prereleases are compared by their dot-separated identifiers. `build` is
  // not compared.
  std::strong_ordering operator<=>(const SemanticVersion& other) const;
  bool operator==(const SemanticVersion& other) const { return (*this <=> other) == 0; }
};

}  // namespace BACKPLANE_API
