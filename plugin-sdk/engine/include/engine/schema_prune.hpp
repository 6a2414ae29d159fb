// Pruning of a part of a custom resource, and checks of the metadata in it.
//
// Thread-safety: schemas are immutable.
#pragma once

#include <optional>

#include "backplane/core/json.hpp"
#include "backplane/core/visibility.hpp"
#include "backplane/types/schema.hpp"

namespace backplane BACKPLANE_API {

// Whether pruning would remove anything from a value of a structural schema, at any depth.
bool would_prune(const Schema& schema, const Value& value);

// Errors that prevent reading a value of a structural schema: apiVersion or kind of an embedded resource that are not strings, invalid
// metadata. nullopt if the value can be read.
std::optional<FieldError> unreadable_resource(const Schema& schema, const Value& value);
// Adds the problems of the embedded resources in `value`: apiVersion and kind, names, metadata.
void check_resources(const Schema& schema, const Value& value, FieldErrors& errors);

}  // namespace BACKPLANE_API
