#include "podsecurity/evaluator.hpp"

#include <algorithm>
#include <array>

namespace backplane::admission::podsecurity {
namespace {

constexpr Level kB = Level::kBaseline, kR = Level::kRestricted;

constexpr CheckRow kChecks[] = {
    {"appArmorProfile", kB, 0, app_armor_profile},
    {"capabilities_baseline", kB, 0, capabilities_baseline},
    {"hostNamespaces", kB, 0, host_namespaces},
    {"hostPathVolumes", kB, 0, host_path_volumes},
    {"hostPorts", kB, 0, host_ports},
    {"hostProbesAndHostLifecycle", kB, 34, host_probes_and_lifecycle_v1_34},
    {"privileged", kB, 0, privileged},
    {"procMount", kB, 0, proc_mount},
    {"procMount", kB, 35, proc_mount_v1_35},
    {"seLinuxOptions", kB, 0, selinux_options},
    {"seLinuxOptions", kB, 31, selinux_options_v1_31},
    {"seccompProfile_baseline", kB, 0, seccomp_baseline},
    {"seccompProfile_baseline", kB, 19, seccomp_baseline_v1_19},
    {"sysctls", kB, 0, sysctls},
    {"sysctls", kB, 27, sysctls_v1_27},
    {"sysctls", kB, 29, sysctls_v1_29},
    {"sysctls", kB, 32, sysctls_v1_32},
    {"windowsHostProcess", kB, 0, windows_host_process},
    {"allowPrivilegeEscalation", kR, 8, privilege_escalation_v1_8},
    {"allowPrivilegeEscalation", kR, 25, privilege_escalation_v1_25},
    {"capabilities_restricted", kR, 22, capabilities_restricted_v1_22, "capabilities_baseline"},
    {"capabilities_restricted", kR, 25, capabilities_restricted_v1_25, "capabilities_baseline"},
    {"procMount_restricted", kR, 35, proc_mount, "procMount"},
    {"restrictedVolumes", kR, 0, restricted_volumes, "hostPathVolumes"},
    {"runAsNonRoot", kR, 0, run_as_non_root},
    {"runAsNonRoot", kR, 35, run_as_non_root_v1_35},
    {"runAsUser", kR, 23, run_as_user_v1_23},
    {"runAsUser", kR, 35, run_as_user_v1_35},
    {"seccompProfile_restricted", kR, 19, seccomp_restricted_v1_19, "seccompProfile_baseline"},
    {"seccompProfile_restricted", kR, 25, seccomp_restricted_v1_25, "seccompProfile_baseline"},
};

// The newest version for which a check changed: newer ones have the same checks.
constexpr std::int64_t kNewest = 35;

using Checks = std::vector<Check>;
using Rows = std::vector<const CheckRow*>;

// The revision of each check that applies to v1.`minor`.
Rows rows_at(std::int64_t minor) {
  Rows rows;
  for (const CheckRow& row : kChecks) {
    if (row.since > minor) continue;
    if (!rows.empty() && rows.back()->id == row.id) rows.pop_back();
    rows.push_back(&row);
  }
  return rows;
}

Checks checks_of(Level level, std::int64_t minor) {
  const Rows rows = rows_at(minor);
  const auto overridden = [&](std::string_view id) {
    return level == Level::kRestricted && std::any_of(rows.begin(), rows.end(), [&](const CheckRow* row) { return row->overrides == id; });
  };
  Checks checks;
  for (const CheckRow* row : rows) {
    if (row->level <= level && !overridden(row->id)) checks.push_back(row->check);
  }
  return checks;
}

const Checks& checks_for(const LevelVersion& policy) {
  using ByVersion = std::array<Checks, kNewest + 1>;
  static const std::array<ByVersion, 2> all = [] {
    std::array<ByVersion, 2> out;
    for (std::int64_t minor = 0; minor <= kNewest; ++minor) {
      out[0][static_cast<std::size_t>(minor)] = checks_of(Level::kBaseline, minor);
      out[1][static_cast<std::size_t>(minor)] = checks_of(Level::kRestricted, minor);
    }
    return out;
  }();
  const std::size_t minor = static_cast<std::size_t>(std::min(policy.version.minor, kNewest));
  return all[policy.level == Level::kBaseline ? 0 : 1][minor];
}

}  // namespace

std::span<const CheckRow> check_table() noexcept { return kChecks; }

std::string Verdict::reasons() const {
  std::string out;
  for (const Finding& finding : findings_) out += (out.empty() ? "" : ", ") + finding.reason;
  return out;
}

std::string Verdict::details() const {
  std::string out;
  for (const Finding& finding : findings_) {
    out += (out.empty() ? "" : ", ") + finding.reason;
    if (!finding.detail.empty()) out += " (" + finding.detail + ")";
  }
  return out;
}

Verdict evaluate(const LevelVersion& policy, const Object& metadata, const Object& spec) {
  std::vector<Finding> findings;
  if (policy.level == Level::kPrivileged) return Verdict(std::move(findings));
  for (const Check check : checks_for(policy)) {
    if (CheckResult found = check(metadata, spec)) findings.push_back(std::move(*found));
  }
  return Verdict(std::move(findings));
}

}  // namespace backplane::admission::podsecurity
