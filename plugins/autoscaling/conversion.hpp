// HorizontalPodAutoscaler between autoscaling/v2, in which it is stored, and v1, which has only CPU: v1 has all other data in annotations,
// with upstream's names.
//
// Thread-safety: pure functions.
// Errors:        none: as upstream, an annotation that cannot be parsed is dropped.
#pragma once

#include "backplane/rest/scheme.hpp"

namespace backplane::autoscaling {

inline const GroupVersionKind kStored{"autoscaling", "v2", "HorizontalPodAutoscaler"};
inline const GroupVersionKind kServed{"autoscaling", "v1", "HorizontalPodAutoscaler"};

Status add_conversions(Scheme& scheme);

// Removes the annotations that hold v2's members in v1; v2 does not need them.
void drop_carried_annotations(Object& autoscaler);

// Adds the annotations that reading an autoscaler of v1 will add: a percentage of CPU is also one of the metrics. Other versions are
// unchanged.
void show_carried_annotations(Object& autoscaler);

// Sets v2's default for missing metrics in v1, where an annotation may hold metrics.
void default_cpu_target(Object& served);

// One metric on CPU use, in percent of the pods' requests.
Object cpu_metric(std::int64_t percent, const json::storage_ptr& storage);

}  // namespace backplane::autoscaling
