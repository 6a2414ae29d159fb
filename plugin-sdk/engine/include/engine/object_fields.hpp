// Server-side apply on objects of a type: the fields of an object, differences between two, merging, removing fields.
//
// Everywhere, `type` is the type of the whole object: a typed (built-in) or structural (custom) schema, or null for objects without a
// schema, whose maps are granular and whose lists are atomic (upstream's deduced type).  Lists and maps follow x-kubernetes-list-type,
// -list-map-keys and -map-type of the type's published schema.
//
// Thread-safety: pure functions; any thread.
// Lifetime:      results are in the storage that is given, or are values.
// Errors:        kInternalError with upstream's text of what is wrong, one line or "errors:" and a line each ('.spec.ports: duplicate
//                entries for key [port=80,protocol="TCP"]'): the caller adds a prefix.  Objects that check_fields() has
//                passed (duplicates or not) give none.
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
  // The same of the fields that count.
  FieldChanges filtered(const FieldFilter& filter) const;
};

enum class Duplicates : unsigned char { kRefused, kAllowed };

// Whether the object is one of the type: forms, declared members, keys of map lists; duplicates in sets and map lists are refused in what a
// client applies, and allowed in what is stored.
Status check_fields(const Schema* type, const Object& object, Duplicates duplicates);

// Every field that the object names: what an applier owns.
Result<FieldSet> fields_of(const Schema* type, const Object& object);

// The differences.  The cost is that of the changes and a comparison of the rest; builds nothing if nothing has changed.
Result<FieldChanges> compare_fields(const Schema* type, const Object& before, const Object& after);

// `applied` merged into `live`: its members win, items of map lists and sets are merged by their keys or values, in upstream's order.
Result<Object> merge_fields(const Schema* type, const Object& live, const Object& applied, json::storage_ptr storage);

// The object without the fields of the set and what is below them.  Lists and maps that lose all they had become null, which is how
// upstream leaves them.
Object remove_fields(const Schema* type, const Object& object, const FieldSet& fields, json::storage_ptr storage);

// Only what the set names.  `with_keys`: items of map lists keep the members that are their keys.
Object extract_fields(const Schema* type, const Object& object, const FieldSet& fields, bool with_keys, json::storage_ptr storage);

// The set, with each declared member that has fields below it added as a member.
FieldSet with_named_fields(const Schema* type, const FieldSet& fields);

// The set for the current type: a list or map that has become atomic replaces its parts.  Nothing if the set needs no change.
std::optional<FieldSet> reconciled_fields(const Schema* type, const FieldSet& fields);

// The lists, maps and structs in the object that its type declares atomic, as upstream prints their paths (".spec.selector").
std::vector<std::string> atomic_fields(const Schema* type, const Object& object);

// Whether two values are the same to field management: numbers by value, members in any order.
bool same_value(const Value& one, const Value& other) noexcept;
bool same_value(const Object& one, const Object& other) noexcept;

}  // namespace BACKPLANE_API
