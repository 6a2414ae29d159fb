// The JSON patch (RFC 6902) that turns one object into another.
//
// Thread-safety: pure function.
// Lifetime:      the operations are copies and refer to neither object.
#pragma once

#include "backplane/core/json.hpp"

namespace backplane {

// The operations add, remove or replace members. A list that differs is replaced as a whole. Empty: the objects are equal.
Array json_difference(const Object& before, const Object& after);

}  // namespace backplane
