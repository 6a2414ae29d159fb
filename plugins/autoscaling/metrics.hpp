// Converts metric specifications and statuses between v2 and the format of v1's annotations.
//
// Thread-safety: pure functions.
// Errors:        none; members of a wrong type count as unset.
#pragma once

#include "backplane/core/json.hpp"

namespace backplane::autoscaling {

// metric_to_v1(), status_to_v1() and condition_to_v1() return members in the order in which Go prints those of v1's types.
Object metric_to_v1(const Object& metric);
Object status_to_v1(const Object& metric);
Object metric_to_v2(const Object& metric);
Object status_to_v2(const Object& metric);
Object condition_to_v1(const Object& condition);

// Returns the scaling behavior in the format of the annotation: as Go prints upstream's internal type, which has no JSON names.
Object behavior_to_v1(const Object& behavior);
// Returns an empty object if no member is set.
Object behavior_to_v2(const Object& behavior);

}  // namespace backplane::autoscaling
