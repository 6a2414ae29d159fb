// Validation of a custom resource that is updated.
//
// Thread-safety: schemas are immutable.
#pragma once

#include <string>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/visibility.hpp"
#include "backplane/types/schema.hpp"

namespace backplane BACKPLANE_API {

// Schema::validate for an update from `before` (null: no object): an invalid value is accepted if it is unchanged (ratcheting validation).
// Members of objects and maps correlate by name, items of list-type map by their keys; other lists are compared only as a whole. Duplicates
// in lists of type set or map are errors only if `before` has none in any list; embedded resources are always validated.
void validate_change(const Schema& schema, const Value& now, const Value* before, const std::string& path, FieldErrors& errors);

}  // namespace BACKPLANE_API
