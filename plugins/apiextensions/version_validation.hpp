// The rules of spec.versions: schemas, subresources, printer columns, selectable fields.
//
// Thread-safety: pure functions.
#pragma once

#include "backplane/json.hpp"
#include "backplane/status.hpp"

namespace backplane::apiextensions {

void validate_versions(const Object& crd, FieldErrors& errors);

}  // namespace backplane::apiextensions
