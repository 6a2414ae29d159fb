// The delegation chain as a picture (SVG 1.1). A plugin is above the plugins that follow it in the chain and to which it has an edge.
// Plugins that do not run are at the bottom.
//
// Thread-safety: a function of its argument.
#pragma once

#include <string>

#include "plugin/planner.hpp"

namespace backplane {

std::string graph_as_svg(const Plan& plan);

}  // namespace backplane
