// Resource lists (v1.ResourceList): rules.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "backplane/json.hpp"
#include "backplane/kit/path.hpp"
#include "backplane/resource_names.hpp"
#include "backplane/status.hpp"

namespace backplane::workload {

// Rules for `resources` of a container: names, quantities not negative, requests not above limits.
void validate_resource_requirements(const Object& resources, const kit::Path& path, FieldErrors& errors);
// Of these what requests and limits say of each other.
void validate_requests(const Object& resources, const kit::Path& path, FieldErrors& errors);

// A name that may be counted at all: a standard one or one with a domain.
void validate_resource_name(std::string_view name, const kit::Path& path, FieldErrors& errors);
void validate_quantity_not_negative(const Value& quantity, const kit::Path& path, FieldErrors& errors);

}  // namespace backplane::workload
