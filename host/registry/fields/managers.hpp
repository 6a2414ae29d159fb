// Reads and writes metadata.managedFields: for each manager its fields, operation, version, subresource and time.
//
// Thread-safety: pure functions and values.
// Lifetime:      JSON results are allocated from the given storage; other results are values.
// Errors:        500 with upstream's message and no reason for entries that cannot be read ("operation must be `Apply` or `Update`").
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "backplane/core/json.hpp"
#include "backplane/core/request.hpp"
#include "backplane/core/status.hpp"
#include "registry/fields/field_owners.hpp"

namespace backplane::registry {

// The identity of an entry in managedFields.  For an applier (`applies`), the identity does not include the version.
struct Manager {
  std::string name;
  bool applies = false;
  std::string api_version;
  std::string subresource;

  // Upstream's identifier: the entry as JSON without its fields and time.  Owners are sorted by it.
  std::string identifier() const;
  static Manager of(std::string_view identifier);
  // The text for messages about conflicts: `"m1"`, or `"kubelet" with subresource "status" using v1`.
  std::string text() const;
};

struct ManagedFields {
  FieldOwners owners;
  std::map<std::string, std::string> times;  // identifier → time (RFC 3339); an owner without a known time has no element
};

// A null pointer, JSON null or an empty list: no managers.
Result<ManagedFields> decode_managed(const Value* managed_fields);
// The list of entries, in upstream's order; null if there are no managers.
Value encode_managed(const ManagedFields& managed, const json::storage_ptr& storage);

// True for [] and [{}]: with these values a client removes all managers.
bool resets_managed(const Value* managed_fields) noexcept;
// True if the lists differ at most in times.
bool same_but_times(const Value& a, const Value& b) noexcept;

// metadata.managedFields of an object; null if it has none.
const Value* managed_fields_of(const Object& object) noexcept;
// Removes and returns managedFields of an object; null if it has none.
Value take_managed_fields(Object& object);
// Sets managedFields as the last member of metadata; if `sorted_keys` is set, at the alphabetical position. Null: removes them.
void put_managed_fields(Object& object, Value managed_fields, bool sorted_keys);

// If `object` differs from `old` only in times of managers, sets the times of `old`, so that the update changes nothing and is not written.
void keep_times(Object& object, const Object& old, bool sorted_keys);

// The manager of a write: `field_manager`, or, if it is empty, the part of the user agent that upstream uses.
std::string manager_name(std::string_view field_manager, std::string_view user_agent);

// Limits the number of managers by update: the oldest managers of each version are merged into a manager called "ancient-changes".
void cap_update_managers(ManagedFields& managed);

}  // namespace backplane::registry
