// Metric specifications and statuses between v2's form and the one that v1's annotations hold.
//
// Thread-safety: pure functions.
// Errors:        none; members of a wrong type are taken for unset.
#pragma once

#include "backplane/core/json.hpp"

namespace backplane::autoscaling {

// In the order in which Go prints the members of v1's types.
Object metric_to_v1(const Object& metric);
Object status_to_v1(const Object& metric);
Object metric_to_v2(const Object& metric);
Object status_to_v2(const Object& metric);
Object condition_to_v1(const Object& condition);

// The scaling behavior as Go prints upstream's internal type, which has no JSON names: that is what the annotation holds.
Object behavior_to_v1(const Object& behavior);
// Nothing set: an empty object.
Object behavior_to_v2(const Object& behavior);

}  // namespace backplane::autoscaling
