// Names and quantities of resource.k8s.io: what is wrong with one is said of the part of it that is wrong.
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
// The same, worded as declared formats word it: each part has a number.
void check_pool_segments(std::string_view name, const kit::Path& path, FieldErrors& errors);
// An identifier, perhaps behind a domain and a slash; a whole one has the domain.
void check_qualified_name(std::string_view name, const kit::Path& path, FieldErrors& errors);
void check_whole_qualified_name(std::string_view name, const kit::Path& path, FieldErrors& errors);
void check_uid(std::string_view uid, const kit::Path& path, FieldErrors& errors);
// A name that the scheduler may take for something else than a node's own resources.
bool is_extended_resource_name(std::string_view name);
// A quantity rounded up to a whole number, and the number written as the quantity `like` is; nothing when it does not fit.
std::optional<std::int64_t> whole_quantity(std::string_view quantity);
std::string quantity_like(std::int64_t number, std::string_view like);

}  // namespace backplane::resource
