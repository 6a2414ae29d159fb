// Validation of regular expressions in API objects. The syntax is that of RE2 and of Go's regexp package. Matching takes linear time.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// Returns Go's error for an invalid pattern, such as "error parsing regexp: missing closing ): `(`"; empty if the pattern is valid. A
// pattern whose compiled program exceeds 16 MiB is also invalid: "error parsing regexp: expression too large: …".
std::string regexp_problem(std::string_view pattern);

}  // namespace BACKPLANE_API
