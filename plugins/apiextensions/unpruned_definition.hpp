// What only definitions have that were stored as apiextensions.k8s.io/v1beta1.
//
// Thread-safety: pure functions.
#pragma once

#include "definition.hpp"

namespace backplane::apiextensions {

// spec.preserveUnknownFields: nothing is pruned from objects.
inline bool preserves_unknown_fields(const Object& crd) noexcept { return get_bool(spec_of(crd), "preserveUnknownFields").value_or(false); }

}  // namespace backplane::apiextensions
