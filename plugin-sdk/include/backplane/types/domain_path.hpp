// Names that begin with a domain: "example.com/thing" (validation.IsDomainPrefixedPath).
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "backplane/core/status.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// Adds an error at `path` for an invalid domain, and one for an invalid path after it.
void validate_domain_path(std::string_view text, const std::string& path, FieldErrors& errors);

}  // namespace BACKPLANE_API
