// The fields of a pod's spec that an update may change.
//
// Thread-safety: pure functions.
#pragma once

#include "backplane/rest/strategy.hpp"

namespace backplane::core {

// Images, a shorter deadline, more tolerations and fewer scheduling gates; while there is a gate, also restrictions of the possible nodes.
// Other differences are refused, and the message contains them.
void check_pod_change(const Object& object, const Object& old, FieldErrors& errors);

}  // namespace backplane::core
