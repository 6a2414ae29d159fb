// Sets of fields in the form of FieldsV1 text, without an intermediate tree.
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

// The text of a raw value (raw_json.hpp); empty for other values.
std::string_view text_of_raw(const Value& value) noexcept;

// The set as a raw value.
Value raw_fields(const FieldSet& set, const json::storage_ptr& storage);

// Appends FieldsV1 of the fields of a new object: those that compare_fields() reports as added or modified since `before` (the type's empty
// object), without `stripped`, and without `excluded` and everything below it. If it returns false, the object needs the general algorithm:
// the appended text is invalid, and the caller must use compare_fields().
bool append_created_fields(std::string& out, const Schema* type, const Object& before, const Object& after, const FieldSet& stripped,
                           const FieldSet& excluded);

// Whether FieldsV1 has every field of `set`; builds no FieldSet. False for malformed text.
bool covers(std::string_view fields_v1, const FieldSet& set);
bool covers(const Value& fields_v1, const FieldSet& set);
inline bool covers(const char* fields_v1, const FieldSet& set) { return covers(std::string_view(fields_v1), set); }

// Whether the members of each object in FieldsV1 are sorted by name, as in custom resources.
bool names_in_order(std::string_view fields_v1);

// Whether `text` equals to_json() of `value`; a raw value's text is compared unchanged.
bool is_json_of(std::string_view text, const Value& value);

}  // namespace BACKPLANE_API
