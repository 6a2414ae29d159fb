// Annotations that have a meaning for pods (pkg/apis/core/validation): mirror pods, deletion costs, tolerations, and the profiles of
// seccomp and AppArmor, which were annotations before they became fields.
//
// Thread-safety: pure functions on trees that the caller owns.
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

// Returns the profile for the value of a legacy AppArmor annotation; null if the value has no meaning.
Value app_armor_profile(std::string_view annotation);

// Checks the annotations of a pod or a pod template. `path`: the path of the annotations. `before`: the annotations before an update; a
// deletion cost that is not a number is valid if `before` contains it.
void validate_pod_annotations(const Object& annotations, const Object& pod_spec, const kit::Path& path, const Object* before,
                              FieldErrors& errors);
// Checks the new annotations of a pod, and that an update may change the annotations in this way.
void validate_pod_annotation_changes(const Object& pod, const Object& old, FieldErrors& errors);
// Checks, for new objects, that a profile that is set by a field and by an annotation is equal in both. `path`: the path of the pod spec.
void validate_twofold_profiles(const Object& annotations, const Object& pod_spec, const kit::Path& path, FieldErrors& errors);

// Copies the AppArmor annotations of a new pod to fields. Returns the warnings for the client.
std::vector<std::string> take_app_armor_annotations(Object& pod);

}  // namespace backplane::workload
