// Pruning of a part of a custom resource.
//
// Thread-safety: schemas are immutable.
#pragma once

#include "backplane/json.hpp"
#include "backplane/schema.hpp"
#include "backplane/visibility.hpp"

namespace backplane BACKPLANE_API {

// Whether pruning would take something out of a value of a structural schema: what the schema does not know, at any depth.
bool would_prune(const Schema& schema, const Value& value);

}  // namespace BACKPLANE_API
