// Members of JSON objects in the order of their names, at every level: how Go prints maps.
//
// Thread-safety: pure; one request's tree.
#pragma once

#include "backplane/core/json.hpp"

namespace backplane::registry {

// Objects that are in order already cost a look.
void sort_members(Value& value);

}  // namespace backplane::registry
