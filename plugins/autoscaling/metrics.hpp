// Converts metric specifications and statuses between v2 and the format of v1's annotations.
//
// Thread-safety: pure functions.
// Errors:        none; members of a wrong type count as unset.
#pragma once

#include "backplane/core/json.hpp"

namespace backplane::autoscaling {

// In the order in which Go prints the members of v1's types.
Object metric_to_v1(const Object& metric);
Object status_to_v1(const Object& metric);
Object metric_to_v2(const Object& metric);
Object status_to_v2(const Object& metric);
Object condition_to_v1(const Object& condition);

// The scaling behavior in the format of the annotation: as Go prints upstream's internal type, which has no JSON names.
Object behavior_to_v1(const Object& behavior);
// If no member is set: an empty object.
Object behavior_to_v2(const Object& behavior);

}  // namespace backplane::autoscaling
