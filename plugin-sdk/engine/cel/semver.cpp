#include "cel/semver.hpp"

#include <algorithm>
#include <vector>

#include "backplane/types/semantic_version.hpp"

namespace backplane::cel_detail {
namespace {

// At most three parts, the last of which is the rest.
std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> out;
  for (std::size_t dot = text.find('.'); out.size() < 2 && dot != std::string_view::npos; dot = text.find('.')) {
    out.push_back(text.substr(0, dot));
    text.remove_prefix(dot + 1);
  }
  out.push_back(text);
  return out;
}

bool normalized(std::string_view text, std::string& out, std::string& error) {
  if (text.starts_with('v')) text.remove_prefix(1);
  std::vector<std::string> parts;
  for (std::string_view part : parts_of(text)) {
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

SemanticVersion plain(const SemverVal& version) { return {{version.major, version.minor, version.patch}, version.pre, version.build}; }

}  // namespace

bool parse_semver(Arena& arena, std::string_view text, bool normalize, SemverVal& out, std::string& error) {
  out = {};
  out.kind = OpaqueKind::kSemver;
  if (normalize) {
    std::string plain;
    if (!normalized(text, plain, error)) return false;
    text = arena.keep_text(plain);
  }
  const auto read = SemanticVersion::parse(text, &error);
  if (!read) return false;
  out.major = read->numbers[0], out.minor = read->numbers[1], out.patch = read->numbers[2];
  out.pre = read->prerelease, out.build = read->build;
  return true;
}

int compare_semver(const SemverVal& a, const SemverVal& b) {
  const auto order = plain(a) <=> plain(b);
  return order < 0 ? -1 : int(order > 0);
}

}  // namespace backplane::cel_detail
