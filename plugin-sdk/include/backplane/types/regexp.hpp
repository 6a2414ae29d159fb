// Regular expressions of API objects, as Go's regexp package takes them: RE2's syntax, and its promise of linear time.
//
// Thread-safety: pure functions.
// Errors:        a pattern that Go refuses is refused in Go's words.
#pragma once

#include <string>
#include <string_view>

#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// "error parsing regexp: missing closing ): `(`"; empty when the pattern is one.
std::string regexp_problem(std::string_view pattern);

}  // namespace BACKPLANE_API
