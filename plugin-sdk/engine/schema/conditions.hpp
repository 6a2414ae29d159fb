// The rules of conditions (metav1.Condition), which kinds that hold such lists ask by "format": "conditions".
//
// Thread-safety: pure functions.
#pragma once

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "schema/place.hpp"

namespace backplane::schema {

// Adds what is wrong with the list at `place`, in upstream's words and order.
void check_conditions(const Array& conditions, const Place& place, FieldErrors& errors);

}  // namespace backplane::schema
