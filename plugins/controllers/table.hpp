// The controllers of this plugin.
//
// Thread-safety: const data.
#pragma once

#include <vector>

#include "frame/context.hpp"

namespace backplane::controllers {

// In the order in which a term starts them.
const std::vector<ControllerRow>& controller_table();

}  // namespace backplane::controllers
