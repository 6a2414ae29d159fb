// Names and quantities of resource.k8s.io: errors are reported for the invalid part.
//
// Thread-safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "backplane/core/status.hpp"
#include "backplane/kit/path.hpp"

namespace backplane::resource {

// Checks one or several subdomains that are separated by slashes.
void check_pool_name(std::string_view name, const kit::Path& path, FieldErrors& errors);
// Like check_pool_name(), with the error texts of upstream's declarative validation, which contain the number of the part.
void check_pool_segments(std::string_view name, const kit::Path& path, FieldErrors& errors);
// check_qualified_name(): an identifier, with an optional domain and a slash before it. check_whole_qualified_name(): the domain is
// required.
void check_qualified_name(std::string_view name, const kit::Path& path, FieldErrors& errors);
void check_whole_qualified_name(std::string_view name, const kit::Path& path, FieldErrors& errors);
void check_uid(std::string_view uid, const kit::Path& path, FieldErrors& errors);
// Returns true for the name of an extended resource.
bool is_extended_resource_name(std::string_view name);
// whole_quantity() returns a quantity rounded up to an integer; nullopt if it does not fit. quantity_like() formats a number like the
// quantity `like`.
std::optional<std::int64_t> whole_quantity(std::string_view quantity);
std::string quantity_like(std::int64_t number, std::string_view like);

}  // namespace backplane::resource
