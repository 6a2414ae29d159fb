// The annotation in which kubectl's client-side apply keeps what it applied last, as long as both ways of applying are in use.
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

// The fields that client-side apply has set and that are still as it set them; nothing: it has set none, or in another version.
std::optional<FieldSet> last_applied_fields(const Schema* schema, const std::string& api_version, const Object& live);

// The conflicts that are left when `allowed` are none.
std::vector<FieldConflict> conflicts_without(const std::vector<FieldConflict>& conflicts, const FieldSet& allowed);

// Brings the annotation of an object that has it up to date with `configuration`; takes it out when annotations would be too large.
void renew_last_applied(Object& object, const Object& configuration);

}  // namespace backplane::registry
