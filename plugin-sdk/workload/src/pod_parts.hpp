// The rules of a pod spec that cross its fields, one function for each part of it.
//
// Thread-safety: pure functions on trees of the caller's.
// Errors:        added to FieldErrors with upstream's messages.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "backplane/kit/path.hpp"
#include "backplane/workload/pod_validation.hpp"

namespace backplane::workload {

// ---- pod_amounts.cpp
// `requests` or `limits` (`list`) of all containers: the sum of those that run together, or the maximum while an init container runs
// alongside the sidecars.
Object sum_of_containers(const Object& pod_spec, std::string_view list);
// Whether a resource is allowed at pod level.
bool is_pod_level(std::string_view name) noexcept;

// ---- pod_claims.cpp
// spec.resourceClaims; returns their names.
std::set<std::string> validate_resource_claims(const Object& pod_spec, const kit::Path& path, FieldErrors& errors);
// The member `claims` of a `resources`: each claim must be unique and one of `known`.
void validate_claims_used(const Object& resources, const kit::Path& path, const std::set<std::string>& known, FieldErrors& errors);
// spec.resources, and the containers' resources within them.
void validate_pod_resources(const Object& pod_spec, const kit::Path& path, const std::set<std::string>& claims,
                            const PodValidationOptions& options, FieldErrors& errors);

// ---- pod_mounts.cpp
// The names of volumes that come from claims: only those have block devices.
std::set<std::string> volumes_of_claims(const Object& pod_spec);
// volumeMounts and volumeDevices of a container; `volumes`: the names of those without a problem.
void validate_container_volumes(const Object& container, const kit::Path& path, const std::set<std::string>& volumes,
                                const std::set<std::string>& claimed, FieldErrors& errors);

// Environment files must be in emptyDir volumes of the pod.
void validate_file_keys(const Object& pod_spec, const kit::Path& path, FieldErrors& errors);

// ---- pod_projections.cpp
// The error if the path may leave its directory; the schema's format relativePath, for paths that upstream reports at another field.
std::vector<std::string> descending_path_problems(std::string_view text);
// A projected volume's sources, and the paths of their files.
void validate_projected(const Object& source, const kit::Path& path, const PodValidationOptions& options, FieldErrors& errors);
// Whether a projected token of the spec has a path that leaves its volume.
bool has_outer_token_path(const Object& pod_spec);
// One file of a downward API volume.
void validate_downward_item(const Object& item, const kit::Path& path, FieldErrors& errors);

// ---- pod_security.cpp
// securityContext of a container, except the rules that depend on flags of the host.
void validate_container_security(const Object& pod_spec, const Object& container, const kit::Path& path, FieldErrors& errors);
// securityContext of the pod, fields of one operating system only, and host users.
void validate_pod_security(const Object& pod_spec, const kit::Path& path, const PodValidationOptions& options, FieldErrors& errors);
// A constraint must not use a key both in its selector and in matchLabelKeys.
void validate_spread_keys(const Object& constraint, const kit::Path& path, FieldErrors& errors);

// ---- windows_user.cpp
// securityContext.windowsOptions.runAsUserName of a pod's spec or of a container.
void validate_windows_user(const Object& holder, const kit::Path& path, FieldErrors& errors);

// ---- pod_restarts.cpp
// restartPolicyRules of a container, `init`: of an init container; and resizePolicy of any container, and of init containers that are not
// sidecars.
void validate_restart_rules(const Object& container, const kit::Path& path, bool init, FieldErrors& errors);
void validate_resize_policy(const Object& pod_spec, const Object& container, const kit::Path& path, FieldErrors& errors);
void validate_init_resize_policy(const Object& container, const kit::Path& path, FieldErrors& errors);
// Handlers that sleep must not exceed the pod's grace period.
void validate_sleeps(const Object& pod_spec, const Object& container, const kit::Path& path, FieldErrors& errors);

// Calls `visit(container, path)` for init containers, containers and ephemeral ones, in upstream's order.
void each_container(const Object& pod_spec, const kit::Path& path, const std::function<void(const Object&, const kit::Path&)>& visit);

}  // namespace backplane::workload
