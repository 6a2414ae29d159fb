// Resource lists (v1.ResourceList): rules.
//
// Thread-safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "backplane/kit/path.hpp"
#include "backplane/types/resource_names.hpp"

namespace backplane::workload {

// Rules for `resources` of a container: names, quantities not negative, requests not above limits, huge pages whole unless
// `allow_parts_of_pages`.
void validate_resource_requirements(const Object& resources, const kit::Path& path, FieldErrors& errors, bool allow_parts_of_pages = false);
// A canonical quantity in whole units, rounded away from zero; nullopt if it exceeds 64 bits.
std::optional<std::int64_t> whole_units(std::string_view quantity);
// The error if a canonical quantity is not a whole number of the huge pages that the name states; empty if it is valid, or for other names.
Problems huge_page_problems(std::string_view name, std::string_view quantity);
// Whether the limits or requests have an amount of huge pages that is not whole.
bool has_parts_of_pages(const Object& resources);
// Checks only the rules that compare requests with limits.
void validate_requests(const Object& resources, const kit::Path& path, FieldErrors& errors);

// Checks that a resource name is a standard name or has a domain.
void validate_resource_name(std::string_view name, const kit::Path& path, FieldErrors& errors);
void validate_quantity_not_negative(const Value& quantity, const kit::Path& path, FieldErrors& errors);

}  // namespace backplane::workload
