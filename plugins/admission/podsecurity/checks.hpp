// The checks of the pod security standards: functions of a pod's metadata and spec.
//
// A suffix _v1_N names the policy version that introduced the revision of the check.
// Thread-safety: pure functions.
// Errors:        none; a finding is the reason why a pod is forbidden.
// Source:        k8s.io/pod-security-admission/policy.
#pragma once

#include <optional>
#include <string>

#include "backplane/core/json.hpp"

namespace backplane::admission::podsecurity {

// The reason why a check forbids a pod ("host ports"), and the offending values.
struct Finding {
  std::string reason;
  std::string detail;
};
// nullopt: the check allows the pod.
using CheckResult = std::optional<Finding>;
using Check = CheckResult (*)(const Object& metadata, const Object& spec);

// ---- check_host.cpp
CheckResult host_namespaces(const Object& metadata, const Object& spec);
CheckResult host_path_volumes(const Object& metadata, const Object& spec);
CheckResult host_ports(const Object& metadata, const Object& spec);
CheckResult windows_host_process(const Object& metadata, const Object& spec);
// ---- check_host_fields.cpp
CheckResult host_probes_and_lifecycle_v1_34(const Object& metadata, const Object& spec);
// ---- check_privileges.cpp
CheckResult privileged(const Object& metadata, const Object& spec);
CheckResult privilege_escalation_v1_8(const Object& metadata, const Object& spec);
CheckResult privilege_escalation_v1_25(const Object& metadata, const Object& spec);
CheckResult proc_mount(const Object& metadata, const Object& spec);
CheckResult proc_mount_v1_35(const Object& metadata, const Object& spec);
// ---- check_capabilities.cpp
CheckResult capabilities_baseline(const Object& metadata, const Object& spec);
CheckResult capabilities_restricted_v1_22(const Object& metadata, const Object& spec);
CheckResult capabilities_restricted_v1_25(const Object& metadata, const Object& spec);
// ---- check_app_armor.cpp
CheckResult app_armor_profile(const Object& metadata, const Object& spec);
// ---- check_seccomp.cpp
CheckResult seccomp_baseline(const Object& metadata, const Object& spec);
CheckResult seccomp_baseline_v1_19(const Object& metadata, const Object& spec);
CheckResult seccomp_restricted_v1_19(const Object& metadata, const Object& spec);
CheckResult seccomp_restricted_v1_25(const Object& metadata, const Object& spec);
// ---- check_kernel.cpp
CheckResult selinux_options(const Object& metadata, const Object& spec);
CheckResult selinux_options_v1_31(const Object& metadata, const Object& spec);
CheckResult sysctls(const Object& metadata, const Object& spec);
CheckResult sysctls_v1_27(const Object& metadata, const Object& spec);
CheckResult sysctls_v1_29(const Object& metadata, const Object& spec);
CheckResult sysctls_v1_32(const Object& metadata, const Object& spec);
// ---- check_volumes.cpp
CheckResult restricted_volumes(const Object& metadata, const Object& spec);
// ---- check_users.cpp
CheckResult run_as_non_root(const Object& metadata, const Object& spec);
CheckResult run_as_non_root_v1_35(const Object& metadata, const Object& spec);
CheckResult run_as_user_v1_23(const Object& metadata, const Object& spec);
CheckResult run_as_user_v1_35(const Object& metadata, const Object& spec);

}  // namespace backplane::admission::podsecurity
