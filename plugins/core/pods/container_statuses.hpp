// Validation of a kubelet's report about containers: their users, the health of their devices, and the images that they mount.
//
// Thread-safety: pure function.
#pragma once

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"

namespace backplane::core {

// `spec`: the pod's spec; `status`: the pod's new status.
void check_container_statuses(const Object& spec, const Object& status, FieldErrors& errors);

}  // namespace backplane::core
