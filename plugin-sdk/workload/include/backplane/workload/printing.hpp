// Table cells of kinds that hold a pod spec, and of volumes.
//
// Thread-safety: pure functions.
#pragma once

#include <string>

#include "backplane/json.hpp"

namespace backplane::workload {

// Names and images of a pod spec's containers, with commas between.
std::string container_names(const Object& pod_spec);
std::string container_images(const Object& pod_spec);
// "RWO,ROX".
std::string print_access_modes(const Array* modes);

}  // namespace backplane::workload
