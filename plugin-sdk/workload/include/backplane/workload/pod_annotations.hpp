// Annotations with a meaning for pods (pkg/apis/core/validation): mirror pods, the cost of deletion, tolerations, and the profiles of
// seccomp and AppArmor, which were annotations before they became fields.
//
// Thread-safety: pure functions on trees of the caller's.
// Errors:        added to FieldErrors with upstream's messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "backplane/kit/path.hpp"

namespace backplane::workload {

inline constexpr std::string_view kMirrorAnnotation = "kubernetes.io/config.mirror";
inline constexpr std::string_view kAppArmorAnnotation = "container.apparmor.security.beta.kubernetes.io/";
inline constexpr std::string_view kPodSeccompAnnotation = "seccomp.security.alpha.kubernetes.io/pod";
inline constexpr std::string_view kContainerSeccompAnnotation = "container.seccomp.security.alpha.kubernetes.io/";

// The profile that a legacy AppArmor annotation represents; null if it represents none.
Value app_armor_profile(std::string_view annotation);

// Annotations of a pod or a pod template; `path`: of the annotations. `before`: the annotations before an update, which may keep a cost
// that is not a number.
void validate_pod_annotations(const Object& annotations, const Object& pod_spec, const kit::Path& path, const Object* before,
                              FieldErrors& errors);
// Checks the new annotations of a pod, and that an update may change them so.
void validate_pod_annotation_changes(const Object& pod, const Object& old, FieldErrors& errors);
// A profile set by field and by annotation must be equal, in new objects; `path`: of the spec.
void validate_profiles_told_twice(const Object& annotations, const Object& pod_spec, const kit::Path& path, FieldErrors& errors);

// Copies a new pod's AppArmor annotations to fields; returns the warnings for the client.
std::vector<std::string> take_app_armor_annotations(Object& pod);

}  // namespace backplane::workload
