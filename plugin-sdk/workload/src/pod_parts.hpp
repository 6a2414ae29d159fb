// Rules of a pod spec that involve several fields, one function for each part of the spec.
//
// Thread-safety: pure functions on trees that the caller owns.
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
// Returns the total of `requests` or `limits` (`list`) of all containers. It is the sum over the containers that run at the same time, or
// the amount while an init container runs together with sidecars, whichever is greater.
Object sum_of_containers(const Object& pod_spec, std::string_view list);
// True if a resource is allowed at pod level.
bool is_pod_level(std::string_view name) noexcept;

// ---- pod_claims.cpp
// Checks spec.resourceClaims. Returns the names of the claims.
std::set<std::string> validate_resource_claims(const Object& pod_spec, const kit::Path& path, FieldErrors& errors);
// Checks the member `claims` of a `resources`: each claim must be unique and in `known`.
void validate_claims_used(const Object& resources, const kit::Path& path, const std::set<std::string>& known, FieldErrors& errors);
// Checks spec.resources, and that the containers' resources do not exceed them.
void validate_pod_resources(const Object& pod_spec, const kit::Path& path, const std::set<std::string>& claims,
                            const PodValidationOptions& options, FieldErrors& errors);

// ---- pod_mounts.cpp
// Returns the names of the volumes that come from claims. Only these can be block devices.
std::set<std::string> volumes_of_claims(const Object& pod_spec);
// Checks volumeMounts and volumeDevices of a container. `volumes`: the names of the valid volumes.
void validate_container_volumes(const Object& container, const kit::Path& path, const std::set<std::string>& volumes,
                                const std::set<std::string>& claimed, FieldErrors& errors);

// Checks that environment files are in emptyDir volumes of the pod.
void validate_file_keys(const Object& pod_spec, const kit::Path& path, FieldErrors& errors);

// ---- pod_projections.cpp
// Returns the error if the path may leave its directory, like the schema's format relativePath. For paths whose errors upstream reports at
// another field.
std::vector<std::string> descending_path_problems(std::string_view text);
// Checks the sources of a projected volume, and the paths of their files.
void validate_projected(const Object& source, const kit::Path& path, const PodValidationOptions& options, FieldErrors& errors);
// True if the path of a projected token in the spec leaves its volume.
bool has_outer_token_path(const Object& pod_spec);
// Checks one file of a downward API volume.
void validate_downward_item(const Object& item, const kit::Path& path, FieldErrors& errors);

// ---- pod_security.cpp
// Checks securityContext of a container, except for the rules that depend on flags of the host.
void validate_container_security(const Object& pod_spec, const Object& container, const kit::Path& path, FieldErrors& errors);
// Checks securityContext of the pod, fields that only one operating system supports, and host users.
void validate_pod_security(const Object& pod_spec, const kit::Path& path, const PodValidationOptions& options, FieldErrors& errors);
// Checks that a constraint does not use the same key in its selector and in matchLabelKeys.
void validate_spread_keys(const Object& constraint, const kit::Path& path, FieldErrors& errors);

// ---- windows_user.cpp
// Checks securityContext.windowsOptions.runAsUserName of a pod spec or of a container.
void validate_windows_user(const Object& holder, const kit::Path& path, FieldErrors& errors);

// ---- pod_restarts.cpp
// validate_restart_rules() checks restartPolicyRules of a container (`init`: an init container). validate_resize_policy() checks
// resizePolicy of any container, and validate_init_resize_policy() that of init containers that are not sidecars.
void validate_restart_rules(const Object& container, const kit::Path& path, bool init, FieldErrors& errors);
void validate_resize_policy(const Object& pod_spec, const Object& container, const kit::Path& path, FieldErrors& errors);
void validate_init_resize_policy(const Object& container, const kit::Path& path, FieldErrors& errors);
// Checks that handlers do not sleep longer than the pod's grace period.
void validate_sleeps(const Object& pod_spec, const Object& container, const kit::Path& path, FieldErrors& errors);

// Calls `visit(container, path)` for all init containers, containers and ephemeral containers, in upstream's order.
void each_container(const Object& pod_spec, const kit::Path& path, const std::function<void(const Object&, const kit::Path&)>& visit);

}  // namespace backplane::workload
