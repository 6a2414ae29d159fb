// Server-side apply on objects of a type: the fields of an object, differences between two, merging, removing fields.
//
// Everywhere, `type` is the type of the whole object: a typed (built-in) or structural (custom) schema, or null for objects without a
// schema, whose maps are granular and whose lists are atomic (upstream's deduced type).  Lists and maps follow x-kubernetes-list-type,
// -list-map-keys and -map-type of the type's published schema.
//
// Thread-safety: pure functions; any thread.
// Lifetime:      results use the given storage, or are values.
// Errors:        kInternalError with upstream's text, to which the caller adds a prefix: one line, or "errors:" and one line for each
//                problem ('.spec.ports: duplicate entries for key [port=80,protocol="TCP"]'). Objects that check_fields() accepts cause no
//                error, with or without duplicates.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/visibility.hpp"
#include "backplane/types/schema.hpp"
#include "engine/field_set.hpp"

namespace backplane BACKPLANE_API {

// The changes of an object that replaces another.
struct FieldChanges {
  FieldSet added, modified, removed;

  bool none() const noexcept { return added.empty() && modified.empty() && removed.empty(); }
  // The changes of the fields that `filter` includes.
  FieldChanges filtered(const FieldFilter& filter) const;
};

enum class Duplicates : unsigned char { kRefused, kAllowed };

// Checks that the object matches the type: kinds of values, declared members, keys of map lists. Duplicates in sets and map lists are
// refused in a client's applied object, and allowed in a stored object.
Status check_fields(const Schema* type, const Object& object, Duplicates duplicates);

// Every field that the object sets; an applier owns these.
Result<FieldSet> fields_of(const Schema* type, const Object& object);

// The differences. Unchanged parts are only compared; without changes nothing is allocated.
Result<FieldChanges> compare_fields(const Schema* type, const Object& before, const Object& after);

// Merges `applied` into `live`: members of `applied` win; items of map lists and sets are merged by their keys or values, in upstream's
// order.
Result<Object> merge_fields(const Schema* type, const Object& live, const Object& applied, json::storage_ptr storage);

// The object without the fields of the set and everything below them. Lists and maps that lose all their content become null, as upstream.
Object remove_fields(const Schema* type, const Object& object, const FieldSet& fields, json::storage_ptr storage);

// The object with only the fields of the set. `with_keys`: items of map lists keep their key members.
Object extract_fields(const Schema* type, const Object& object, const FieldSet& fields, bool with_keys, json::storage_ptr storage);

// The set, with each declared member that has fields below it added as a member.
FieldSet with_named_fields(const Schema* type, const FieldSet& fields);

// The set for the current type: a list or map that has become atomic replaces its parts. nullopt if the set needs no change.
std::optional<FieldSet> reconciled_fields(const Schema* type, const FieldSet& fields);

// The lists, maps and structs in the object that its type declares atomic, as upstream prints their paths (".spec.selector").
std::vector<std::string> atomic_fields(const Schema* type, const Object& object);

// Whether field management treats two values as equal: it compares numbers by value, and members in any order.
bool same_value(const Value& one, const Value& other) noexcept;
bool same_value(const Object& one, const Object& other) noexcept;

}  // namespace BACKPLANE_API
