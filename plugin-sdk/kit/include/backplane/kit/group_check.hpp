// A group document without the code that its plugin has for it.
//
// Thread-safety: pure function.
// Errors:        as read_group(); names of printers, checks and kinds are taken to be the code's.
#pragma once

#include <string>

#include "backplane/core/json.hpp"

namespace backplane::kit {

// The place and the message, "kinds[0].columns[1].type must be …"; empty: nothing is wrong.
std::string problem_of_group(const Value& document);

}  // namespace backplane::kit
