// spec.preserveUnknownFields, which only definitions stored as apiextensions.k8s.io/v1beta1 can have.
//
// Thread-safety: pure functions.
#pragma once

#include "definition.hpp"

namespace backplane::apiextensions {

// True: objects are not pruned.
inline bool preserves_unknown_fields(const Object& crd) noexcept { return get_bool(spec_of(crd), "preserveUnknownFields").value_or(false); }

}  // namespace backplane::apiextensions
