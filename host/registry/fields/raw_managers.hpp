// Objects of writes, in which fieldsV1 is raw text (engine/raw_json.hpp), because it may be most of an object's bytes.
//
// Thread-safety: pure functions.
// Lifetime:      results are in the storage that is given.
// Errors:        throws UnreadableObject, as decode() does.
#pragma once

#include "backplane/core/object.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::registry {

// Decodes an object of the schema (null: none). The fields of managers become raw values; if the kind has other raw values, only those
// become raw.
Object decode_for_write(const ObjectEntry& entry, const Schema* schema, json::storage_ptr storage);

bool has_raw_managers(const Object& object) noexcept;
// Replaces raw values by trees, for code that reads them.
void expand_managers(Object& object);
// Raw values in place of trees.
void fold_managers(Value& managed_fields);
// Whether the lists are equal; members may have any order, and values may be raw.
bool same_managers(const Value& a, const Value& b);
// Whether the fields are equal, raw or not.
bool same_fields(const Value& a, const Value& b);
// Sorts the members, as custom resources need it; values may be raw.
void sort_managers(Value& managed_fields);

}  // namespace backplane::registry
