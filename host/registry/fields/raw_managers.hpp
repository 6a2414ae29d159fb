// Objects in which each fieldsV1 of metadata.managedFields is a raw value (engine/raw_json.hpp). Writes use such objects, because fieldsV1
// may be most of an object's bytes.
//
// Thread-safety: pure functions.
// Lifetime:      results are allocated from the given storage.
// Errors:        throws UnreadableObject, as decode() does.
#pragma once

#include "backplane/core/object.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::registry {

// Decodes an object of `schema` (null: it has none). Each fieldsV1 becomes a raw value. Exception: if the schema has raw values itself
// (holds_raw()), only these become raw.
Object decode_for_write(const ObjectEntry& entry, const Schema* schema, json::storage_ptr storage);

bool has_raw_managers(const Object& object) noexcept;
// Parses the raw values of managedFields.
void expand_managers(Object& object);
// Replaces the parsed fieldsV1 of each entry by a raw value.
void fold_managers(Value& managed_fields);
// True if two lists of managedFields are equal. The order of members does not matter; fieldsV1 may be raw or parsed.
bool same_managers(const Value& a, const Value& b);
// True if two fieldsV1, raw or parsed, are equal.
bool same_fields(const Value& a, const Value& b);
// Sorts the members of all entries, as custom resources require; fieldsV1 may be raw.
void sort_managers(Value& managed_fields);

}  // namespace backplane::registry
