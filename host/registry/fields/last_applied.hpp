// The annotation in which kubectl's client-side apply stores the configuration that it applied last. Server-side apply uses the annotation
// if a user changes from client-side to server-side apply.
//
// Thread-safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "registry/fields/field_owners.hpp"

namespace backplane::registry {

// The manager name of kubectl's server-side apply. Only this manager takes over fields of client-side apply (last_applied_fields) without a
// conflict.
inline constexpr std::string_view kKubectl = "kubectl";

// The fields that client-side apply has set and that have not changed since; nullopt: the object has no annotation, or the annotation has
// another version.
std::optional<FieldSet> last_applied_fields(const Schema* schema, const std::string& api_version, const Object& live);

// The conflicts without those about the fields in `allowed`.
std::vector<FieldConflict> conflicts_without(const std::vector<FieldConflict>& conflicts, const FieldSet& allowed);

// If the object has the annotation, sets it to `configuration`, or removes it if the annotations would become too large.
void renew_last_applied(Object& object, const Object& configuration);

}  // namespace backplane::registry
