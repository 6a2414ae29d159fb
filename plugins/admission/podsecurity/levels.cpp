#include "podsecurity/levels.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "backplane/core/json_access.hpp"

namespace backplane::admission::podsecurity {
namespace {

constexpr std::array<std::string_view, 3> kLevelNames{"privileged", "baseline", "restricted"};

std::string label_path(std::string_view label) { return at_key("metadata.labels", label); }

// Sets the level if the label is present. If the level cannot be parsed, sets it to `otherwise` and returns false.
bool read_level(const Labels& labels, std::string_view label, Level otherwise, Level& level, FieldErrors& errors) {
  const auto text = find_label(labels, label);
  if (!text) return true;
  const auto parsed = parse_level(*text);
  level = parsed.value_or(otherwise);
  if (!parsed) errors.invalid(label_path(label), *text, kLevelProblem);
  return parsed.has_value();
}

void read_version(const Labels& labels, std::string_view label, PolicyVersion& version, FieldErrors& errors) {
  const auto text = find_label(labels, label);
  if (!text) return;
  const auto parsed = parse_version(*text);
  version = parsed.value_or(PolicyVersion{});
  if (!parsed) errors.invalid(label_path(label), *text, kVersionProblem);
}

}  // namespace

std::string_view level_name(Level level) noexcept { return kLevelNames[static_cast<std::size_t>(level)]; }

std::optional<Level> parse_level(std::string_view text) noexcept {
  const auto* found = std::find(kLevelNames.begin(), kLevelNames.end(), text);
  if (found == kLevelNames.end()) return std::nullopt;
  return static_cast<Level>(found - kLevelNames.begin());
}

std::string PolicyVersion::text() const { return minor == kLatest ? "latest" : "v1." + std::to_string(minor); }

std::optional<PolicyVersion> parse_version(std::string_view text) noexcept {
  constexpr std::string_view kMajor = "v1.";
  if (text == "latest") return PolicyVersion{};
  if (!text.starts_with(kMajor)) return std::nullopt;
  text.remove_prefix(kMajor.size());
  const bool digits = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!digits || (text.size() > 1 && text.front() == '0')) return std::nullopt;
  PolicyVersion version;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), version.minor);
  return result.ec == std::errc() ? std::optional(version) : std::nullopt;
}

std::string LevelVersion::text() const { return std::string(level_name(level)) + ":" + version.text(); }

bool equivalent(const LevelVersion& a, const LevelVersion& b) noexcept {
  return (a.level == Level::kPrivileged && b.level == Level::kPrivileged) || a == b;
}

bool Policy::fully_privileged() const noexcept {
  return enforce.level == Level::kPrivileged && audit.level == Level::kPrivileged && warn.level == Level::kPrivileged;
}

bool equivalent(const Policy& a, const Policy& b) noexcept {
  return equivalent(a.enforce, b.enforce) && equivalent(a.audit, b.audit) && equivalent(a.warn, b.warn);
}

std::optional<std::string_view> find_label(const Labels& labels, std::string_view key) noexcept {
  const auto found =
      std::lower_bound(labels.begin(), labels.end(), key, [](const auto& label, auto wanted) { return label.first < wanted; });
  return found != labels.end() && found->first == key ? std::optional<std::string_view>(found->second) : std::nullopt;
}

Policy policy_of(const Labels& labels, const Policy& defaults, FieldErrors& errors) {
  Policy policy = defaults;
  if (labels.empty()) return policy;
  const bool enforce_valid = read_level(labels, kEnforceLabels.level, Level::kRestricted, policy.enforce.level, errors);
  read_version(labels, kEnforceLabels.version, policy.enforce.version, errors);
  // Audit and warn do not refuse pods, so a level that cannot be parsed is replaced by privileged.
  read_level(labels, kAuditLabels.level, Level::kPrivileged, policy.audit.level, errors);
  read_version(labels, kAuditLabels.version, policy.audit.version, errors);
  read_level(labels, kWarnLabels.level, Level::kPrivileged, policy.warn.level, errors);
  read_version(labels, kWarnLabels.version, policy.warn.version, errors);

  // If the label for the level of warn is absent, warn is at least as strict as an explicit enforce.
  const bool has_enforce = enforce_valid && find_label(labels, kEnforceLabels.level).has_value();
  if (has_enforce && !find_label(labels, kWarnLabels.level) && policy.enforce.level > policy.warn.level) {
    policy.warn.level = policy.enforce.level;
    if (!find_label(labels, kWarnLabels.version)) policy.warn.version = policy.enforce.version;
  }
  return policy;
}

}  // namespace backplane::admission::podsecurity
