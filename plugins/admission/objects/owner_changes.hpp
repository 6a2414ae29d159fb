// The changes of a write to metadata.ownerReferences.
//
// Thread-safety: pure functions.
// Lifetime:      the pointers refer to the object that was passed.
// Source:        k8s.io/kubernetes/plugin/pkg/admission/gc.
#pragma once

#include <vector>

#include "backplane/core/json.hpp"

namespace backplane::admission::objects {

// `old`: null on create.
bool changes_owner_references(const Object& object, const Object* old);

// The references with blockOwnerDeletion that are new, or did not have blockOwnerDeletion before.
std::vector<const Object*> new_blocking_owners(const Object& object, const Object* old);

}  // namespace backplane::admission::objects
