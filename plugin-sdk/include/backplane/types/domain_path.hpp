// Paths that begin with a domain: "example.com/thing".
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "backplane/core/status.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// What is wrong with the domain or with what follows is said of that part.
void validate_domain_path(std::string_view text, const std::string& path, FieldErrors& errors);

}  // namespace BACKPLANE_API
