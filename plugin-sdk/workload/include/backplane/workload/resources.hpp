// Rules for resource lists (v1.ResourceList).
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

// Checks `resources` of a container: the names, that no quantity is negative, that no request exceeds its limit, and that amounts of huge
// pages are whole numbers of pages, unless `allow_parts_of_pages`.
void validate_resource_requirements(const Object& resources, const kit::Path& path, FieldErrors& errors, bool allow_parts_of_pages = false);
// Returns a canonical quantity in whole units, rounded away from zero; nullopt if it exceeds 64 bits.
std::optional<std::int64_t> whole_units(std::string_view quantity);
// Returns the error if a canonical quantity is not a whole number of huge pages of the size in the name; empty if it is, or for other
// names.
Problems huge_page_problems(std::string_view name, std::string_view quantity);
// True if a limit or a request is an amount of huge pages that is not a whole number of pages.
bool has_parts_of_pages(const Object& resources);
// Checks only the rules that compare requests with limits.
void validate_requests(const Object& resources, const kit::Path& path, FieldErrors& errors);

// Checks that a resource name is a standard name or has a domain.
void validate_resource_name(std::string_view name, const kit::Path& path, FieldErrors& errors);
void validate_quantity_not_negative(const Value& quantity, const kit::Path& path, FieldErrors& errors);

}  // namespace backplane::workload
