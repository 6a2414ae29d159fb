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

// One or several subdomains, with slashes between.
void check_pool_name(std::string_view name, const kit::Path& path, FieldErrors& errors);
// The same, with the error texts of declared formats, which number the parts.
void check_pool_segments(std::string_view name, const kit::Path& path, FieldErrors& errors);
// An identifier with an optional domain and slash before it; a fully qualified one has the domain.
void check_qualified_name(std::string_view name, const kit::Path& path, FieldErrors& errors);
void check_whole_qualified_name(std::string_view name, const kit::Path& path, FieldErrors& errors);
void check_uid(std::string_view uid, const kit::Path& path, FieldErrors& errors);
// A name of an extended resource.
bool is_extended_resource_name(std::string_view name);
// A quantity rounded up to an integer, in the format of the quantity `like`; nullopt if it does not fit.
std::optional<std::int64_t> whole_quantity(std::string_view quantity);
std::string quantity_like(std::int64_t number, std::string_view like);

}  // namespace backplane::resource
