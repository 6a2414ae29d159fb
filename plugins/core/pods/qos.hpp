// The quality of service class of a pod, from the requests and limits of its containers.
//
// Thread-safety: pure function.
#pragma once

#include <string_view>

#include "backplane/core/json.hpp"

namespace backplane::core {

// Returns "Guaranteed", "Burstable" or "BestEffort".
std::string_view qos_class(const Object& pod_spec);

}  // namespace backplane::core
