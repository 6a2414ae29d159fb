// Parts that the schema of a custom resource lacks: the members that every resource has, and its kind.
//
// Thread-safety: pure functions of the arguments.
#pragma once

#include "schema/type.hpp"

namespace backplane::schema {

// `set` was made by SchemaSet::custom, `schema` is its text parsed.

// For reading objects: the members that the schema does not mention.
void add_resource_members(Object& schema);
// For the OpenAPI document: the server's definition of these members, regardless of the schema, and the kind.
void show_resource_members(Object& schema, const SchemaSet::State& set);

}  // namespace backplane::schema
