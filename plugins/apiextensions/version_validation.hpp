// The rules of spec.versions: schemas, subresources, printer columns, selectable fields.
//
// Thread-safety: pure functions.
#pragma once

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"

namespace backplane::apiextensions {

// `old`: the old definition, or null.
void validate_versions(const Object& crd, const Object* old, FieldErrors& errors);

}  // namespace backplane::apiextensions
