// Checks apiVersion and kind in bodies of custom resources. The client must set them; for built-in kinds, the server sets them.
//
// Thread-safety: free functions.
// Errors:        upstream's messages.
#pragma once

#include <string>
#include <string_view>

#include "backplane/core/meta.hpp"
#include "backplane/core/object.hpp"
#include "backplane/core/status.hpp"

namespace backplane::endpoints {

// Returns `Object 'Kind' is missing in 'BODY'`.
std::string missing_kind_text(std::string_view body);
// Returns the error about an apiVersion that is null; the result is empty for other values.
std::string_view type_accessor_problem(const Object& object);
// Returns kind and apiVersion of a tree. Missing parts are empty. Malformed versions must have been refused before.
GroupVersionKind declared_kind(const Value& tree);
// Errors:        kInvalid if kind or apiVersion differ from `wanted`. The error is about an object of the declared kind.
Status check_declared_kind(const GroupVersionKind& declared, const GroupVersionKind& wanted, const Object& object);

}  // namespace backplane::endpoints
