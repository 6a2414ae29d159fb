// HorizontalPodAutoscaler between autoscaling/v2, in which it is stored, and v1, which knows CPU alone: everything else stands in
// annotations there, under the names upstream gives them.
//
// Thread-safety: pure functions.
// Errors:        none of their own: an annotation that cannot be read is left out, as upstream leaves it out.
#pragma once

#include "backplane/rest/scheme.hpp"

namespace backplane::autoscaling {

inline const GroupVersionKind kStored{"autoscaling", "v2", "HorizontalPodAutoscaler"};
inline const GroupVersionKind kServed{"autoscaling", "v1", "HorizontalPodAutoscaler"};

Status add_conversions(Scheme& scheme);

// Takes the annotations out that carry v2's members through v1; v2 itself has no use for them.
void drop_carried_annotations(Object& autoscaler);

// Gives an autoscaler of v1 the annotations that it will be read with: a percentage of CPU has an entry among the metrics, too.  Another
// version stays as it is.
void show_carried_annotations(Object& autoscaler);

// What v2 defaults to when it has no metrics, in v1, where an annotation may say that it has some.
void default_cpu_target(Object& served);

// One metric on CPU use, in percent of what pods request.
Object cpu_metric(std::int64_t percent, const json::storage_ptr& storage);

}  // namespace backplane::autoscaling
