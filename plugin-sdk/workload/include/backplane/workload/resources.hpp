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
// A canonical quantity in whole units, rounded away from zero; nothing if it exceeds 64 bits.
std::optional<std::int64_t> whole_units(std::string_view quantity);
// Why a canonical quantity of huge pages is not a number of whole pages of the size in the name; empty for other names.
Problems huge_page_problems(std::string_view name, std::string_view quantity);
// Whether the limits and requests have huge pages that are not whole.
bool has_parts_of_pages(const Object& resources);
// Only those of these rules that compare requests with limits.
void validate_requests(const Object& resources, const kit::Path& path, FieldErrors& errors);

// A name that may be counted at all: a standard one or one with a domain.
void validate_resource_name(std::string_view name, const kit::Path& path, FieldErrors& errors);
void validate_quantity_not_negative(const Value& quantity, const kit::Path& path, FieldErrors& errors);

}  // namespace backplane::workload
