#include "backplane/types/api_lifecycle.hpp"

#include <charconv>

namespace backplane BACKPLANE_API {
namespace {

constexpr std::string_view kUnavailable = ", unavailable in v";

std::optional<int> number(std::string_view text) {
  int out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size() || out < 0) return std::nullopt;
  return out;
}

}  // namespace

std::string ApiRelease::to_string() const { return std::to_string(major) + "." + std::to_string(minor); }

std::optional<ApiRelease> parse_release(std::string_view text) {
  const auto dot = text.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto major = number(text.substr(0, dot)), minor = number(text.substr(dot + 1));
  if (!major || !minor) return std::nullopt;
  return ApiRelease{*major, *minor};
}

std::optional<GroupVersionKind> parse_kind(std::string_view text) {
  const auto space = text.find(' ');
  if (space == std::string_view::npos || space == 0 || space + 1 == text.size()) return std::nullopt;
  const std::string_view version = text.substr(0, space);
  const auto slash = version.find('/');
  if (slash == std::string_view::npos) return GroupVersionKind{"", std::string(version), std::string(text.substr(space + 1))};
  return GroupVersionKind{std::string(version.substr(0, slash)), std::string(version.substr(slash + 1)),
                          std::string(text.substr(space + 1))};
}

std::string ApiLifecycle::warning(const GroupVersionKind& kind) const {
  if (!deprecated.known()) return {};
  std::string out = kind.group_version().to_string() + " " + kind.kind + " is deprecated in v" + deprecated.to_string() + "+";
  if (removed.known()) out.append(kUnavailable).append(removed.to_string()).append("+");
  if (!replacement.kind.empty()) out += "; use " + replacement.group_version().to_string() + " " + replacement.kind;
  return out;
}

std::string removed_release_in(std::string_view warning) {
  const auto at = warning.find(kUnavailable);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = warning.substr(at + kUnavailable.size());
  const auto release = parse_release(rest.substr(0, rest.find('+')));
  return release ? release->to_string() : std::string();
}

}  // namespace BACKPLANE_API
