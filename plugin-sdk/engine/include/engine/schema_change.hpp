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

// Schema::validate for an update from `before` (null: there was nothing): a value that is wrong may stay as long as it is not changed.
// Members of objects and maps go by their name, items of a list-type map by their keys, and other lists only as a whole.  Lists that must
// not repeat themselves are looked at when none of them did before; resources within resources always.
void validate_change(const Schema& schema, const Value& now, const Value* before, const std::string& path, FieldErrors& errors);

}  // namespace BACKPLANE_API
