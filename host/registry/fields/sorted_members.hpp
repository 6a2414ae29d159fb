// Sorts the members of JSON objects by name, at every level, as Go prints maps.
//
// Thread-safety: pure; one request's tree.
#pragma once

#include "backplane/core/json.hpp"

namespace backplane::registry {

// Objects that are sorted already are only read.
void sort_members(Value& value);

}  // namespace backplane::registry
