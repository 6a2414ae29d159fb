// Validates values against their types.
#pragma once

#include <string>
#include <string_view>

#include "fields/form.hpp"

namespace backplane::fields {

// The problem of a value where a scalar is expected; empty: none.  Absent and null are valid.
std::string scalar_problem(Scalar kind, const Value* value, std::string_view prefix);

}  // namespace backplane::fields
