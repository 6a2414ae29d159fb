// The common case of a write: all managers speak of the version that is written.  Entries of those whose fields have not changed stay as
// they are, byte for byte, and are not even decoded.
//
// Thread-safety: pure functions.
// Lifetime:      the result is in the storage of `object`.
// Errors:        those of objects with list items that have equal keys.
#pragma once

#include <optional>
#include <string_view>

#include "engine/object_fields.hpp"

namespace backplane::registry {

// The members without a manager: names, and members that the server sets.
const FieldSet& stripped_fields();

// The same texts: the same members, in the same order.  Costs a walk through both, and of raw values one comparison.
bool same_encoding(const Value& a, const Value& b);

struct EntryUpdate {
  const Schema* schema = nullptr;
  const FieldFilter* filter = nullptr;
  const FieldSet* excluded = nullptr;  // what the filter leaves out, if that is all it does; null: it is not
  std::string_view api_version;
  std::string_view manager;
  std::string_view subresource;
  std::string_view now;
};

// metadata.managedFields after `live` has become `object`: `managed`, in which `manager` owns the changed fields.  Nothing: the case needs
// the general algorithm (entries of other versions, malformed entries, too many entries).
std::optional<Result<Value>> update_entries(const EntryUpdate& update, const Object& live, const Object& object, const Value& managed);

}  // namespace backplane::registry
