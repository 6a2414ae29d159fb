// The JSON patch (RFC 6902) that turns one object into another.
//
// Thread-safety: pure function.
// Lifetime:      the operations are in the memory of `after`'s copies.
#pragma once

#include "backplane/core/json.hpp"

namespace backplane {

// Operations of members; a list that differs is replaced. Empty: the objects are equal.
Array json_difference(const Object& before, const Object& after);

}  // namespace backplane
