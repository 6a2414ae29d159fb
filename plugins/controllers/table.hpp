// The controllers of this plugin.
//
// Thread-safety: const data.
#pragma once

#include <vector>

#include "frame/context.hpp"

namespace backplane::controllers {

// Returns the controllers in the order in which a term (frame/term.hpp) starts them.
const std::vector<ControllerRow>& controller_table();

}  // namespace backplane::controllers
