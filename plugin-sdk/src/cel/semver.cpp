#include "cel/semver.hpp"

#include <algorithm>
#include <vector>

#include "cel/text.hpp"

namespace backplane::cel_detail {
namespace {

bool is_number(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}
bool is_word(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-'; });
}
bool has_leading_zero(std::string_view text) noexcept { return text.size() > 1 && text[0] == '0'; }

// At most `most` parts, the last of which is the rest.
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

class SemverReader {
 public:
  explicit SemverReader(std::string& error) : error_(error) {}

  bool read(std::string_view text, SemverVal& out) {
    if (text.empty()) return fail("Version string empty");
    const auto parts = parts_of(text, 3);
    if (parts.size() != 3) return fail("No Major.Minor.Patch elements found");
    if (!number(parts[0], "major", "Major", out.major) || !number(parts[1], "minor", "Minor", out.minor)) return false;
    std::string_view patch = parts[2];
    const std::size_t plus = patch.find('+');
    const bool has_build = plus != std::string_view::npos;
    if (has_build) {
      out.build = patch.substr(plus + 1);
      patch = patch.substr(0, plus);
    }
    const std::size_t dash = patch.find('-');
    const bool has_pre = dash != std::string_view::npos;
    if (has_pre) {
      out.pre = patch.substr(dash + 1);
      patch = patch.substr(0, dash);
    }
    if (!number(patch, "patch", "Patch", out.patch)) return false;
    return (!has_pre || prerelease(out.pre)) && (!has_build || build(out.build));
  }

 private:
  bool fail(std::string message) {
    error_ = std::move(message);
    return false;
  }
  bool number(std::string_view text, const std::string& name, const std::string& title, std::uint64_t& out) {
    if (!is_number(text)) return fail("Invalid character(s) found in " + name + " number " + quoted(text));
    if (has_leading_zero(text)) return fail(title + " number must not contain leading zeroes " + quoted(text));
    return whole(text, out);
  }
  bool whole(std::string_view text, std::uint64_t& out) {
    const auto value = parse_uint(text);
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

  std::string& error_;
};

bool normalized(std::string_view text, std::string& out, std::string& error) {
  if (text.starts_with('v')) text.remove_prefix(1);
  std::vector<std::string> parts;
  for (std::string_view part : parts_of(text, 3)) {
    std::string kept(part);
    if (part.size() > 1) {
      kept.erase(0, std::min(kept.find_first_not_of('0'), kept.size()));
      if (kept.empty() || kept[0] < '0' || kept[0] > '9') kept.insert(0, "0");
    }
    parts.push_back(std::move(kept));
  }
  if (parts.size() < 3 && parts.back().find_first_of("+-") != std::string::npos) {
    error = "short version cannot contain PreRelease/Build meta data";
    return false;
  }
  while (parts.size() < 3) parts.push_back("0");
  out = parts[0] + "." + parts[1] + "." + parts[2];
  return true;
}

int order(std::uint64_t a, std::uint64_t b) noexcept { return a < b ? -1 : int(a > b); }

int compare_part(std::string_view a, std::string_view b) {
  const bool number = is_number(a), other = is_number(b);
  if (number != other) return number ? -1 : 1;
  if (number) return order(parse_uint(a).value_or(0), parse_uint(b).value_or(0));
  return a < b ? -1 : int(a > b);
}

}  // namespace

bool parse_semver(Arena& arena, std::string_view text, bool normalize, SemverVal& out, std::string& error) {
  out = {};
  out.kind = OpaqueKind::kSemver;
  if (normalize) {
    std::string plain;
    if (!normalized(text, plain, error)) return false;
    text = arena.keep_text(plain);
  }
  return SemverReader(error).read(text, out);
}

int compare_semver(const SemverVal& a, const SemverVal& b) {
  if (const int answer = order(a.major, b.major)) return answer;
  if (const int answer = order(a.minor, b.minor)) return answer;
  if (const int answer = order(a.patch, b.patch)) return answer;
  if (a.pre.empty() || b.pre.empty()) return int(a.pre.empty()) - int(b.pre.empty());
  const auto left = parts_of(a.pre), right = parts_of(b.pre);
  for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    if (const int answer = compare_part(left[i], right[i])) return answer;
  }
  return order(left.size(), right.size());
}

}  // namespace backplane::cel_detail
