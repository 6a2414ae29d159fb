// The fields of a pod's spec that an update may change.
//
// Thread-safety: pure functions.
#pragma once

#include "backplane/rest/strategy.hpp"

namespace backplane::core {

// Allows other images, a shorter activeDeadlineSeconds, more tolerations and fewer scheduling gates. While the pod has a scheduling gate,
// also allows to restrict the possible nodes further. Refuses all other differences, and quotes them in the message.
void check_pod_change(const Object& object, const Object& old, FieldErrors& errors);

}  // namespace backplane::core
