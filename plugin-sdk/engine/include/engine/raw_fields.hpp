// Sets of fields as the text in an object, without a tree in between.
//
// Thread-safety: pure functions; any thread.
#pragma once

#include <string>
#include <string_view>

#include "backplane/core/visibility.hpp"
#include "backplane/types/schema.hpp"
#include "engine/field_set.hpp"
#include "engine/raw_json.hpp"

namespace backplane BACKPLANE_API {

// The text of a raw value; empty for any other.
std::string_view text_of_raw(const Value& value) noexcept;

// The set as a raw value.
Value raw_fields(const FieldSet& set, const json::storage_ptr& storage);

// FieldsV1 of what an object has that `before` (its type's object that has nothing yet) has not: what compare_fields() finds added and
// modified, without `stripped`, and without `excluded` and what is below that.  False: it is not that simple, what was appended means
// nothing, and compare_fields() must be called.
bool append_created_fields(std::string& out, const Schema* type, const Object& before, const Object& after, const FieldSet& stripped,
                           const FieldSet& excluded);

// Whether FieldsV1 has every field of `set`, without building anything.  Malformed text: false.
bool covers(std::string_view fields_v1, const FieldSet& set);
bool covers(const Value& fields_v1, const FieldSet& set);
inline bool covers(const char* fields_v1, const FieldSet& set) { return covers(std::string_view(fields_v1), set); }

// Whether the members of each object of FieldsV1 are in the order of their names, as custom resources have theirs.
bool names_in_order(std::string_view fields_v1);

// Whether `text` is what to_json() makes of `value`; a value that is raw is compared as it is.
bool spells(std::string_view text, const Value& value);

}  // namespace BACKPLANE_API
