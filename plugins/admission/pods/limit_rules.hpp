// What a LimitRange demands of pods and claims: minimum, maximum, and the ratio of limit to request.
//
// Thread-safety: pure functions.
// Errors:        the texts of upstream, one for each demand that is not met.
// Source:        k8s.io/kubernetes/plugin/pkg/admission/limitranger.
#pragma once

#include <string>
#include <vector>

#include "backplane/core/json.hpp"

namespace backplane::admission::pods {

// `pod_level`: the gate PodLevelResources.
std::vector<std::string> limit_problems_of_pod(const Object& limit_range, const Object& pod, bool pod_level);
std::vector<std::string> limit_problems_of_claim(const Object& limit_range, const Object& claim);

}  // namespace backplane::admission::pods
