#include "plugin/version.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "backplane/types/semantic_version.hpp"

namespace backplane {

namespace {

constexpr std::uint64_t kMostNumber = 0xffffffff;

std::optional<std::uint64_t> number(std::string_view text) {
  if (text.size() > 1 && text.front() == '0') return std::nullopt;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value > kMostNumber) return std::nullopt;
  return value;
}

// Removes the text up to `separator` from the front of `text`, and returns it.
std::string_view take(std::string_view& text, char separator) {
  const auto at = text.find(separator);
  const auto head = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
  return head;
}

// A version whose parts, from the right, may be missing or x.
struct Partial {
  std::optional<std::uint64_t> major, minor, patch;
  std::string prerelease;

  Version floor() const { return Version{major.value_or(0), minor.value_or(0), patch.value_or(0), prerelease, {}}; }
  // The lowest version above all versions that the given parts match.
  Version ceiling() const {
    if (!minor) return Version{*major + 1, 0, 0, {}, {}};
    if (!patch) return Version{*major, *minor + 1, 0, {}, {}};
    return Version{*major, *minor, *patch + 1, {}, {}};
  }
};

Status bad_range(std::string_view text) {
  return bad_request("\"" + std::string(text) + "\" is not a version range; examples: =1.4.2, >=1.2 <2, ^1.4, ~1.4.2, 1.x, ^1 || ^2");
}

bool is_wildcard(std::string_view part) { return part == "x" || part == "X" || part == "*"; }

std::optional<Partial> parse_partial(std::string_view text) {
  Partial partial;
  text = take(text, '+');
  if (text.find('-') != std::string_view::npos) {  // a prerelease requires a complete version
    auto whole = Version::parse(text);
    if (!whole.ok()) return std::nullopt;
    return Partial{whole->major, whole->minor, whole->patch, std::move(whole->prerelease)};
  }
  auto numbers = text;
  std::optional<std::uint64_t>* const slots[] = {&partial.major, &partial.minor, &partial.patch};
  if (numbers.empty() || numbers.back() == '.') return std::nullopt;
  bool open = false;
  for (auto* slot : slots) {
    if (numbers.empty()) break;
    const auto part = take(numbers, '.');
    if (is_wildcard(part)) {
      open = true;
      continue;
    }
    const auto value = number(part);
    if (!value || open) return std::nullopt;
    *slot = *value;
  }
  if (!numbers.empty()) return std::nullopt;
  return partial;
}

}  // namespace

Result<Version> Version::parse(std::string_view text) {
  const auto read = SemanticVersion::parse(text);
  const auto fits = [](std::uint64_t number) { return number <= kMostNumber; };
  if (!read || !std::all_of(read->numbers.begin(), read->numbers.end(), fits)) {
    return bad_request("\"" + std::string(text) + "\" is not a semantic version such as 1.4.2 or 2.0.0-rc.1");
  }
  return Version{read->numbers[0], read->numbers[1], read->numbers[2], std::string(read->prerelease), std::string(read->build)};
}

Version Version::from_packed(std::uint32_t packed) {
  return Version{(packed >> 16) & 0xffU, (packed >> 8) & 0xffU, packed & 0xffU, {}, {}};
}

std::string Version::to_string() const {
  std::string text = std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
  if (!prerelease.empty()) text += "-" + prerelease;
  if (!build.empty()) text += "+" + build;
  return text;
}

std::strong_ordering Version::operator<=>(const Version& other) const {
  const auto plain = [](const Version& version) {
    return SemanticVersion{{version.major, version.minor, version.patch}, version.prerelease, version.build};
  };
  return plain(*this) <=> plain(other);
}

bool VersionRange::Comparator::holds(const Version& candidate) const {
  const auto order = candidate <=> version;
  switch (op) {
    case Op::kEqual:
      return order == 0;
    case Op::kLess:
      return order < 0;
    case Op::kLessEqual:
      return order <= 0;
    case Op::kGreater:
      return order > 0;
    case Op::kGreaterEqual:
      break;
  }
  return order >= 0;
}

Status VersionRange::parse_comparator(std::string_view text, Alternative& out) {
  static constexpr std::string_view kOperators[] = {">=", "<=", "==", ">", "<", "=", "^", "~"};
  std::string_view op;
  for (auto candidate : kOperators) {
    if (text.starts_with(candidate)) {
      op = candidate;
      break;
    }
  }
  const auto partial = parse_partial(text.substr(op.size()));
  if (!partial) return bad_range(text);
  if (!partial->major) {  // "*": every version; "<*" and ">*" are errors
    return op == "<" || op == ">" ? bad_range(text) : Status();
  }
  const Version low = partial->floor();
  if (op == "^") {
    // The left-most part that is not zero stays the same.
    Version high = low.major > 0 || !partial->minor   ? Version{low.major + 1, 0, 0, {}, {}}
                   : low.minor > 0 || !partial->patch ? Version{0, low.minor + 1, 0, {}, {}}
                                                      : Version{0, 0, low.patch + 1, {}, {}};
    out.push_back({Op::kGreaterEqual, low});
    out.push_back({Op::kLess, std::move(high)});
  } else if (op == "~") {
    out.push_back({Op::kGreaterEqual, low});
    out.push_back({Op::kLess, partial->minor ? Version{low.major, low.minor + 1, 0, {}, {}} : Version{low.major + 1, 0, 0, {}, {}}});
  } else if (op == ">") {
    partial->patch ? out.push_back({Op::kGreater, low}) : out.push_back({Op::kGreaterEqual, partial->ceiling()});
  } else if (op == "<=") {
    partial->patch ? out.push_back({Op::kLessEqual, low}) : out.push_back({Op::kLess, partial->ceiling()});
  } else if (op == "<") {
    out.push_back({Op::kLess, low});
  } else if (op == ">=") {
    out.push_back({Op::kGreaterEqual, low});
  } else if (partial->patch) {
    out.push_back({Op::kEqual, low});
  } else {
    out.push_back({Op::kGreaterEqual, low});
    out.push_back({Op::kLess, partial->ceiling()});
  }
  return {};
}

Status VersionRange::parse_alternative(std::string_view text, Alternative& out, bool& any) {
  std::string word;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const bool space = i == text.size() || text[i] == ' ' || text[i] == ',' || text[i] == '\t';
    if (!space) {
      word.push_back(text[i]);
      continue;
    }
    // Blanks may separate an operator from its version: ">= 1.2".
    if (word.find_first_not_of("<>=^~") == std::string::npos) continue;
    auto status = parse_comparator(word, out);
    if (!status.ok()) return status;
    word.clear();
    any = true;
  }
  return word.empty() ? Status() : bad_range(text);
}

Result<VersionRange> VersionRange::parse(std::string_view text) {
  VersionRange range;
  range.text_ = std::string(text);
  range.alternatives_.clear();
  const bool several = text.find("||") != std::string_view::npos;
  for (auto rest = text;;) {
    const auto bar = rest.find("||");
    Alternative alternative;
    bool any = false;
    auto status = parse_alternative(rest.substr(0, bar), alternative, any);
    // An empty text means every version; an empty side of "||" is an error.
    if (!status.ok() || (!any && several)) return bad_range(text);
    range.alternatives_.push_back(std::move(alternative));
    if (bar == std::string_view::npos) break;
    rest = rest.substr(bar + 2);
  }
  return range;
}

bool VersionRange::contains(const Version& version) const {
  for (const auto& alternative : alternatives_) {
    bool holds = true, named = version.prerelease.empty();
    for (const auto& comparator : alternative) {
      holds = holds && comparator.holds(version);
      const auto& v = comparator.version;
      named = named || (!v.prerelease.empty() && v.major == version.major && v.minor == version.minor && v.patch == version.patch);
    }
    if (holds && named) return true;
  }
  return false;
}

}  // namespace backplane
