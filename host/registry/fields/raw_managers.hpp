// Objects of writes, in which fieldsV1 is raw text (engine/raw_json.hpp), because it may be most of an object's bytes.
//
// Thread-safety: pure functions.
// Lifetime:      results are in the storage that is given.
// Errors:        throws UnreadableObject, as decode() does.
#pragma once

#include "backplane/core/object.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::registry {

// An object of the schema (null: none), with raw values for the fields of managers, or else, of kinds that have others, for those.
Object decode_for_write(const ObjectEntry& entry, const Schema* schema, json::storage_ptr storage);

bool has_raw_managers(const Object& object) noexcept;
// Replaces raw values by trees, for code that reads them.
void expand_managers(Object& object);
// Raw values in place of trees.
void fold_managers(Value& managed_fields);
// The same lists, members in any order, raw or not.
bool same_managers(const Value& a, const Value& b);
// The same fields, raw or not.
bool same_fields(const Value& a, const Value& b);
// Puts the members of custom resources in order, raw or not.
void sort_managers(Value& managed_fields);

}  // namespace backplane::registry
