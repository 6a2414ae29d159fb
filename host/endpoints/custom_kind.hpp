// Checks apiVersion and kind of custom resources, which must be set by the client; for built-in kinds they are filled in.
//
// Thread-safety: free functions.
// Errors:        upstream's texts.
#pragma once

#include <string>
#include <string_view>

#include "backplane/core/meta.hpp"
#include "backplane/core/object.hpp"
#include "backplane/core/status.hpp"

namespace backplane::endpoints {

// `Object 'Kind' is missing in 'BODY'`.
std::string missing_kind_text(std::string_view body);
// The reason why the present apiVersion cannot be parsed; empty: it can.
std::string_view type_accessor_problem(const Object& object);
// Kind and version of a tree; missing parts stay empty.  Malformed versions have been refused before.
GroupVersionKind declared_kind(const Value& tree);
// Errors: kInvalid, for the kind of the tree, if kind or version are not `wanted`.
Status check_declared_kind(const GroupVersionKind& declared, const GroupVersionKind& wanted, const Object& object);

}  // namespace backplane::endpoints
