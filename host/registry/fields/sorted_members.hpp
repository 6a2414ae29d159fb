// Sorts the members of JSON objects by name at every level. Go prints maps in this order.
//
// Thread-safety: one thread at a time uses a value.
#pragma once

#include "backplane/core/json.hpp"

namespace backplane::registry {

// Does not change objects that are sorted already.
void sort_members(Value& value);

}  // namespace backplane::registry
