// Names that begin with a domain: "example.com/thing" (validation.IsDomainPrefixedPath).
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "backplane/core/status.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// Adds errors for `text` at `path`: one error if the domain, or the path after the first '/', is empty; otherwise one error for each
// problem of the domain (is_dns1123_subdomain), and one if the path contains characters outside [A-Za-z0-9/\-._~%!$&'()*+,;=:].
void validate_domain_path(std::string_view text, const std::string& path, FieldErrors& errors);

}  // namespace BACKPLANE_API
