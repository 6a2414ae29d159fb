// Pod security levels, policy versions and the policy of a namespace.
//
// Thread-safety: values and pure functions.
// Errors:        labels that cannot be parsed are added to FieldErrors; a usable policy is returned nevertheless.
// Source:        k8s.io/pod-security-admission/api.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "backplane/core/json.hpp"
#include "backplane/core/selectors.hpp"
#include "backplane/core/status.hpp"

namespace backplane::admission::podsecurity {

// In the order of strictness.
enum class Level : unsigned char { kPrivileged, kBaseline, kRestricted };
std::string_view level_name(Level level) noexcept;
std::optional<Level> parse_level(std::string_view text) noexcept;

// v1.`minor`, or the latest version, which is newer than every other one.
struct PolicyVersion {
  static constexpr std::int64_t kLatest = std::numeric_limits<std::int64_t>::max();
  std::int64_t minor = kLatest;
  bool operator==(const PolicyVersion&) const = default;
  std::string text() const;
};
std::optional<PolicyVersion> parse_version(std::string_view text) noexcept;

inline constexpr std::string_view kLevelProblem = "must be one of privileged, baseline, restricted";
inline constexpr std::string_view kVersionProblem = "must be \"latest\" or \"v1.x\"";

struct LevelVersion {
  Level level = Level::kPrivileged;
  PolicyVersion version;
  bool operator==(const LevelVersion&) const = default;
  std::string text() const;  // "baseline:v1.20"
};
// True if both are privileged, or equal.
bool equivalent(const LevelVersion& a, const LevelVersion& b) noexcept;

struct Policy {
  LevelVersion enforce, audit, warn;
  bool fully_privileged() const noexcept;
};
bool equivalent(const Policy& a, const Policy& b) noexcept;

// Labels of a namespace; the keys of audit annotations have the same prefix.
inline constexpr std::string_view kPrefix = "pod-security.kubernetes.io/";
struct ModeLabels {
  std::string_view mode, level, version;
};
inline constexpr ModeLabels kEnforceLabels{"enforce", "pod-security.kubernetes.io/enforce", "pod-security.kubernetes.io/enforce-version"};
inline constexpr ModeLabels kAuditLabels{"audit", "pod-security.kubernetes.io/audit", "pod-security.kubernetes.io/audit-version"};
inline constexpr ModeLabels kWarnLabels{"warn", "pod-security.kubernetes.io/warn", "pod-security.kubernetes.io/warn-version"};

// nullopt if there is no such label. `labels` are sorted by key.
std::optional<std::string_view> find_label(const Labels& labels, std::string_view key) noexcept;

// The policy of the labels; `defaults` apply for absent labels.
Policy policy_of(const Labels& labels, const Policy& defaults, FieldErrors& errors);

}  // namespace backplane::admission::podsecurity
