// What the schema of a custom resource does not say itself: the members that every resource has, and its kind.
//
// Thread-safety: pure functions of the arguments.
#pragma once

#include "schema/type.hpp"

namespace backplane::schema {

// `set` was made by SchemaSet::custom, `schema` is its text parsed.

// For reading objects: the members that the schema does not mention.
void add_resource_members(Object& schema);
// For who reads the OpenAPI document: the members as the server has them, whatever the schema says of them, and the kind.
void show_resource_members(Object& schema, const SchemaSet::State& set);

}  // namespace backplane::schema
