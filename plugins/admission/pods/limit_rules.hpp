// The rules of a LimitRange for pods and claims: minimum, maximum, and the ratio of limit to request.
//
// Thread-safety: pure functions.
// Errors:        upstream's texts, one for each violated rule.
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
