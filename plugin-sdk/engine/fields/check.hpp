// Whether values are of their type.
#pragma once

#include <string>
#include <string_view>

#include "fields/form.hpp"

namespace backplane::fields {

// What is wrong with a value where a scalar belongs; empty: nothing.  Absent and null are always right.
std::string scalar_problem(Scalar kind, const Value* value, std::string_view prefix);

}  // namespace backplane::fields
