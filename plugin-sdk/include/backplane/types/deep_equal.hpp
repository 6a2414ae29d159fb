// Semantic equality of JSON values, as apiequality.Semantic.DeepEqual compares Go structs. At every level, an empty list equals an absent
// one. An empty object differs from an absent one, because it may be a struct in Go.
//
// Thread-safety: pure functions.
#pragma once

#include "backplane/core/json.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// True if the values are equal. A null pointer and a JSON null both mean that the value is absent. The order of an object's members is
// irrelevant; the order of a list's items is not. An integer never equals a floating-point number (1 and 1.0).
bool alike(const Value* a, const Value* b) noexcept;

}  // namespace BACKPLANE_API
