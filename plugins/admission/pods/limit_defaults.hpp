// The defaults of a LimitRange for containers.
//
// Thread-safety: pure function.
// Source:        k8s.io/kubernetes/plugin/pkg/admission/limitranger.
#pragma once

#include "backplane/core/json.hpp"

namespace backplane::admission::pods {

// Sets the requests and limits that the pod's containers lack, and lists them in the annotation kubernetes.io/limit-ranger, which names
// the last LimitRange that has set some. Returns whether it has changed the pod.
bool set_limit_defaults(const Object& limit_range, Object& pod);

}  // namespace backplane::admission::pods
