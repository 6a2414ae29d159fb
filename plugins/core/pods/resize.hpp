// The strategy of pods/resize, and the feature gates that decide which parts of a pod can be resized.
//
// Thread-safety: values and pure functions.
#pragma once

#include <memory>

#include "backplane/kit/group_document.hpp"
#include "backplane/workload/pod_validation.hpp"

namespace backplane::core {

struct ResizeGates {
  bool pod_level = true;        // InPlacePodLevelResourcesVerticalScaling
  bool init_containers = true;  // InPlacePodVerticalScalingInitContainers: also init containers that are not sidecars
};
std::shared_ptr<const Strategy> pod_resize_strategy(workload::PodValidationOptions options, ResizeGates gates);

}  // namespace backplane::core
