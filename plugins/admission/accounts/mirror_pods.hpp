// Mirror pods, which kubelets create for their static pods.
//
// Thread-safety: pure functions.
// Source:        kubernetes plugin/pkg/admission/serviceaccount.
#pragma once

#include <optional>
#include <string_view>

#include "backplane/core/json.hpp"

namespace backplane::admission::accounts {

inline constexpr std::string_view kMirrorPodAnnotation = "kubernetes.io/config.mirror";
bool is_mirror_pod(const Object& pod);
// The reason why a mirror pod is refused: a reference to service accounts, secrets or tokens; nullopt: there is none.
std::optional<std::string_view> forbidden_in_mirror_pod(const Object& pod_spec);

}  // namespace backplane::admission::accounts
