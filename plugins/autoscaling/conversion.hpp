// Converts HorizontalPodAutoscalers between autoscaling/v2, the stored version, and v1. v1 has members for the CPU only, and all other data
// in annotations with upstream's names.
//
// Thread-safety: pure functions.
// Errors:        none: as upstream, an annotation that cannot be parsed is dropped.
#pragma once

#include "backplane/rest/scheme.hpp"

namespace backplane::autoscaling {

inline const GroupVersionKind kStored{"autoscaling", "v2", "HorizontalPodAutoscaler"};
inline const GroupVersionKind kServed{"autoscaling", "v1", "HorizontalPodAutoscaler"};

Status add_conversions(Scheme& scheme);

// Removes the annotations that contain v2's members in v1; v2 does not need them.
void drop_carried_annotations(Object& autoscaler);

// Adds those annotations to a v1 object that a read of the object in v1 would add. Does not change objects of other versions.
void show_carried_annotations(Object& autoscaler);

// Sets v2's default for missing metrics in a v1 object: the target of the CPU, unless it is set or an annotation contains metrics.
void default_cpu_target(Object& served);

// Returns a metric for the use of CPU, in percent of the pods' requests.
Object cpu_metric(std::int64_t percent, const json::storage_ptr& storage);

}  // namespace backplane::autoscaling
