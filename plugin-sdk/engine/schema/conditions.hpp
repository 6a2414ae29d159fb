// The rules of conditions (metav1.Condition), which kinds select by "format": "conditions".
//
// Thread-safety: pure functions.
#pragma once

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "schema/place.hpp"

namespace backplane::schema {

// Adds the errors of the list at `place`, with upstream's messages, in its order.
void check_conditions(const Array& conditions, const Place& place, FieldErrors& errors);

}  // namespace backplane::schema
