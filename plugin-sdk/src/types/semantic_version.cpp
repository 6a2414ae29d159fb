#include "backplane/types/semantic_version.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

#include "backplane/core/status.hpp"

namespace backplane BACKPLANE_API {
namespace {

bool is_number(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}
bool is_word(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-'; });
}
bool has_leading_zero(std::string_view text) noexcept { return text.size() > 1 && text[0] == '0'; }

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(out) : std::nullopt;
}

// Splits `text` at its dots into at most `most` parts. The last part is the rest.
std::vector<std::string_view> parts_of(std::string_view text, std::size_t most) {
  std::vector<std::string_view> out;
  while (out.size() + 1 < most) {
    const std::size_t dot = text.find('.');
    if (dot == std::string_view::npos) break;
    out.push_back(text.substr(0, dot));
    text.remove_prefix(dot + 1);
  }
  out.push_back(text);
  return out;
}
std::vector<std::string_view> parts_of(std::string_view text) { return parts_of(text, text.size() + 2); }

class Reader {
 public:
  explicit Reader(std::string* why) : why_(why) {}

  bool read(std::string_view text, SemanticVersion& out) {
    if (text.empty()) return fail("Version string empty");
    const auto parts = parts_of(text, 3);
    if (parts.size() != 3) return fail("No Major.Minor.Patch elements found");
    if (!number(parts[0], "major", "Major", out.numbers[0]) || !number(parts[1], "minor", "Minor", out.numbers[1])) return false;
    std::string_view patch = parts[2];
    const bool has_build = split(patch, '+', out.build), has_prerelease = split(patch, '-', out.prerelease);
    if (!number(patch, "patch", "Patch", out.numbers[2])) return false;
    return (!has_prerelease || prerelease(out.prerelease)) && (!has_build || build(out.build));
  }

 private:
  // Removes `mark` and the text after it, which it stores in `rest`. Returns false if `text` does not contain `mark`.
  static bool split(std::string_view& text, char mark, std::string_view& rest) {
    const std::size_t at = text.find(mark);
    if (at == std::string_view::npos) return false;
    rest = text.substr(at + 1);
    text = text.substr(0, at);
    return true;
  }
  bool fail(std::string message) {
    if (why_ != nullptr) *why_ = std::move(message);
    return false;
  }
  bool number(std::string_view text, const char* name, const char* title, std::uint64_t& out) {
    if (!is_number(text)) return fail("Invalid character(s) found in " + std::string(name) + " number " + quoted(text));
    if (has_leading_zero(text)) return fail(std::string(title) + " number must not contain leading zeroes " + quoted(text));
    return whole(text, out);
  }
  bool whole(std::string_view text, std::uint64_t& out) {
    const auto value = number_of(text);
    if (!value) return fail("strconv.ParseUint: parsing " + quoted(text) + (text.empty() ? ": invalid syntax" : ": value out of range"));
    out = *value;
    return true;
  }
  bool prerelease(std::string_view text) {
    for (const std::string_view part : parts_of(text)) {
      std::uint64_t ignored = 0;
      if (part.empty()) return fail("Prerelease is empty");
      if (is_number(part)) {
        if (has_leading_zero(part)) return fail("Numeric PreRelease version must not contain leading zeroes " + quoted(part));
        if (!whole(part, ignored)) return false;
      } else if (!is_word(part)) {
        return fail("Invalid character(s) found in prerelease " + quoted(part));
      }
    }
    return true;
  }
  bool build(std::string_view text) {
    for (const std::string_view part : parts_of(text)) {
      if (part.empty()) return fail("Build meta data is empty");
      if (!is_word(part)) return fail("Invalid character(s) found in build meta data " + quoted(part));
    }
    return true;
  }

  std::string* why_;
};

std::strong_ordering compare_words(std::string_view a, std::string_view b) {
  const bool number = is_number(a), other = is_number(b);
  if (number != other) return number ? std::strong_ordering::less : std::strong_ordering::greater;
  if (number) return number_of(a).value_or(0) <=> number_of(b).value_or(0);
  return a <=> b;
}

}  // namespace

std::optional<SemanticVersion> SemanticVersion::parse(std::string_view text, std::string* why) {
  SemanticVersion out;
  return Reader(why).read(text, out) ? std::optional(out) : std::nullopt;
}

std::strong_ordering SemanticVersion::operator<=>(const SemanticVersion& other) const {
  if (const auto order = numbers <=> other.numbers; order != 0) return order;
  if (prerelease.empty() || other.prerelease.empty()) return prerelease.empty() <=> other.prerelease.empty();
  const auto left = parts_of(prerelease), right = parts_of(other.prerelease);
  return std::lexicographical_compare_three_way(left.begin(), left.end(), right.begin(), right.end(), compare_words);
}

}  // namespace BACKPLANE_API
