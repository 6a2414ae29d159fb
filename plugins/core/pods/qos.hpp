// Quality of service of a pod, from what its containers ask for and may use.
//
// Thread-safety: pure function.
#pragma once

#include <string_view>

#include "backplane/core/json.hpp"

namespace backplane::core {

// "Guaranteed", "Burstable" or "BestEffort".
std::string_view qos_class(const Object& pod_spec);

}  // namespace backplane::core
