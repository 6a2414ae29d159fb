// The common case of a write: the entries of all managers have the version that is written. Entries whose fields have not changed are
// retained byte for byte, without being decoded.
//
// Thread-safety: pure functions.
// Lifetime:      the result is in the storage of `object`.
// Errors:        those of objects with list items that have equal keys.
#pragma once

#include <optional>
#include <string_view>

#include "engine/object_fields.hpp"

namespace backplane::registry {

// The members that no manager owns: names, and members that the server sets.
const FieldSet& stripped_fields();

// True if the JSON texts are equal: the same members in the same order. Walks both trees; compares raw values as texts.
bool same_encoding(const Value& a, const Value& b);

struct EntryUpdate {
  const Schema* schema = nullptr;
  const FieldFilter* filter = nullptr;
  const FieldSet* excluded = nullptr;  // the fields that the filter excludes; null: the filter does more than excluding fields
  std::string_view api_version;
  std::string_view manager;
  std::string_view subresource;
  std::string_view now;
};

// metadata.managedFields after `live` has become `object`: `managed`, in which `manager` owns the changed fields.  Nothing: the case needs
// the general algorithm (entries of other versions, malformed entries, too many entries).
std::optional<Result<Value>> update_entries(const EntryUpdate& update, const Object& live, const Object& object, const Value& managed);

}  // namespace backplane::registry
