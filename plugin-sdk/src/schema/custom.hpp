// What the schema of a custom resource does not say itself: the members that every resource has, and its kind.
//
// Thread-safety: pure functions of the arguments.
#pragma once

#include "schema/type.hpp"

namespace backplane::schema {

// `set` was made by SchemaSet::custom, `schema` is its text parsed.
void add_resource_members(Object& schema, const SchemaSet::State& set);

}  // namespace backplane::schema
