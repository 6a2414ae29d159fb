// What rules allow beside other rules.
//
// Thread-safety: pure functions.
#pragma once

#include "backplane/core/json.hpp"

namespace backplane::rbac {

// What `wanted` allows and no rule of `have` does: rules of one verb each, on one resource of one group, of one name where names are
// given, or on one URL.
Array missing_rules(const Array& have, const Array& wanted);

}  // namespace backplane::rbac
