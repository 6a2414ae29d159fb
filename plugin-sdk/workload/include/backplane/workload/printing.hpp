// Table cells of kinds that hold a pod spec, and of volumes.
//
// Thread-safety: pure functions.
#pragma once

#include <string>

#include "backplane/json.hpp"

namespace backplane::workload {

// For columns over a list of containers: names and images, with commas between.
Value show_names(const Value* containers, std::int64_t now_unix);
Value show_images(const Value* containers, std::int64_t now_unix);
// "RWO,ROX".
Value show_access_modes(const Value* modes, std::int64_t now_unix);
std::string print_access_modes(const Array* modes);

}  // namespace backplane::workload
