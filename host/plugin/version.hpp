// Semantic versions (semver.org 2.0.0) and ranges over them.
//
// A range is alternatives joined by "||"; an alternative is comparators joined by spaces or commas that must all hold:
//   =1.4.2  1.4.2  >1.2  >=1.2 <2  ^1.4  ~1.4.2  1.x  1.*  *
// A missing part, or x, matches every value. A prerelease satisfies an alternative only if one of its comparators names a prerelease of the
// same major.minor.patch.
//
// Thread-safety: values.
// Errors:        kBadRequest, one line with what was read and what was expected.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/status.hpp"

namespace backplane {

struct Version {
  std::uint64_t major = 0, minor = 0, patch = 0;
  std::string prerelease;  // "rc.1"; empty: a release
  std::string build;       // not compared

  static Result<Version> parse(std::string_view text);
  // `packed`: 0x00MMmmpp (major, minor, patch), the form in the head of a plugin's descriptor.
  static Version from_packed(std::uint32_t packed);
  std::string to_string() const;
  std::strong_ordering operator<=>(const Version& other) const;
  bool operator==(const Version& other) const { return (*this <=> other) == 0; }
};

class VersionRange {
 public:
  VersionRange() = default;  // everything but prereleases
  static Result<VersionRange> parse(std::string_view text);
  bool contains(const Version& version) const;
  // As it was written; "*" for the default.
  const std::string& text() const noexcept { return text_; }

 private:
  enum class Op : unsigned char { kEqual, kLess, kLessEqual, kGreater, kGreaterEqual };
  struct Comparator {
    Op op;
    Version version;
    bool holds(const Version& candidate) const;
  };
  using Alternative = std::vector<Comparator>;
  static Status parse_alternative(std::string_view text, Alternative& out, bool& any);
  static Status parse_comparator(std::string_view text, Alternative& out);

  std::vector<Alternative> alternatives_{Alternative{}};
  std::string text_ = "*";
};

}  // namespace backplane
