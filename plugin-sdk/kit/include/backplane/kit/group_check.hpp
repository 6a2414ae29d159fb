// Checks a group document without the code of its plugin, for the build and for `backplane plugin check`.
//
// Thread-safety: pure function.
// Errors:        those of read_group(). Names of printers, checks and kinds are assumed to exist in the plugin's code.
#pragma once

#include <string>

#include "backplane/core/json.hpp"

namespace backplane::kit {

// Returns the location and the message of the first error, such as "kinds[0].columns[1].type must be …"; empty if the document is valid.
std::string problem_of_group(const Value& document);

}  // namespace backplane::kit
