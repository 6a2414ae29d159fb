// Updates metadata.managedFields in the common case that all entries have the version of the written object. An entry whose fields have not
// changed is retained byte for byte, and is not decoded.
//
// Thread-safety: pure functions.
// Lifetime:      the result is in the storage of `object`.
// Errors:        those of compare_fields(), for objects whose list items have equal keys.
#pragma once

#include <optional>
#include <string_view>

#include "engine/object_fields.hpp"

namespace backplane::registry {

// The members that no manager owns: names, and members that the server sets.
const FieldSet& stripped_fields();

// True if the values have the same JSON text: the same members in the same order. Does not print them; compares raw values as texts.
bool same_encoding(const Value& a, const Value& b);

struct EntryUpdate {
  const Schema* schema = nullptr;
  const FieldFilter* filter = nullptr;
  const FieldSet* excluded = nullptr;  // the fields that `filter` excludes; null: `filter` lists the included fields
  std::string_view api_version;
  std::string_view manager;
  std::string_view subresource;
  std::string_view now;
};

// Returns metadata.managedFields after a write has changed `live` to `object`: the entries of `managed`, in which update.manager now owns
// the changed fields.  nullopt: the general algorithm (FieldUpdater) is needed: entries of other versions, malformed entries, too many
// entries.
std::optional<Result<Value>> update_entries(const EntryUpdate& update, const Object& live, const Object& object, const Value& managed);

}  // namespace backplane::registry
