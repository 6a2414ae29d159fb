// Pruning of a part of a custom resource, and the metadata in it.
//
// Thread-safety: schemas are immutable.
#pragma once

#include <optional>

#include "backplane/core/json.hpp"
#include "backplane/core/visibility.hpp"
#include "backplane/types/schema.hpp"

namespace backplane BACKPLANE_API {

// Whether pruning would take something out of a value of a structural schema: what the schema does not know, at any depth.
bool would_prune(const Schema& schema, const Value& value);

// What keeps a value of a structural schema from being read: words of an embedded resource that are no texts, metadata that is none.
// Nothing: it can be.
std::optional<FieldError> unreadable_resource(const Schema& schema, const Value& value);
// What is wrong with the embedded resources in it: what they are, their names, their metadata.
void check_resources(const Schema& schema, const Value& value, FieldErrors& errors);

}  // namespace BACKPLANE_API
