// The delegation chain as a picture (SVG 1.1): a plugin is above the plugins that it requires; plugins that do not run are at the bottom.
//
// Thread-safety: a function of its argument.
#pragma once

#include <string>

#include "plugin/planner.hpp"

namespace backplane {

std::string graph_as_svg(const Plan& plan);

}  // namespace backplane
