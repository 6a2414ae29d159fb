// Versions as semver.org 2.0.0 has them: three numbers, words of a prerelease, and words of a build that are not compared.
//
// Thread-safety: values.
// Lifetime:      a version's words are views of the text it was read from.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "backplane/visibility.hpp"

namespace backplane {
namespace kit BACKPLANE_API {

struct SemanticVersion {
  std::array<std::uint64_t, 3> numbers{};
  std::vector<std::string_view> prerelease;

  // Nothing when the text is none.
  static std::optional<SemanticVersion> parse(std::string_view text);
  bool operator<(const SemanticVersion& other) const;
};

}  // namespace BACKPLANE_API
}  // namespace backplane
