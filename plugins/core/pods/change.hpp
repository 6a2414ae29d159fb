// The fields of a pod's spec that an update may change.
//
// Thread-safety: pure functions.
#pragma once

#include "backplane/rest/strategy.hpp"

namespace backplane::core {

// Images, a shorter deadline, more tolerations and fewer scheduling gates; while there is a gate also what narrows the nodes further.
// Whatever else differs is refused, with the difference.
void check_pod_change(const Object& object, const Object& old, FieldErrors& errors);

}  // namespace backplane::core
