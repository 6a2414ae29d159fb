// Versions as semver.org 2.0.0 has them: three numbers, words of a prerelease, and words of a build that are not compared.
//
// Thread-safety: values.
// Lifetime:      a version's words are views of the text it was read from.
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
  std::array<std::uint64_t, 3> numbers{};
  std::string_view prerelease = {}, build = {};  // without - and +, dots between the words

  // Nothing when the text is none; `why`, if anybody asks, is then told in the words of upstream's library.
  static std::optional<SemanticVersion> parse(std::string_view text, std::string* why = nullptr);
  // Numbers before words; what leads to a version before it.
  std::strong_ordering operator<=>(const SemanticVersion& other) const;
  bool operator==(const SemanticVersion& other) const { return (*this <=> other) == 0; }
};

}  // namespace BACKPLANE_API
