// Warnings about a definition that is accepted.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <vector>

#include "backplane/core/json.hpp"

namespace backplane::apiextensions {

// Formats that nothing checks in values of their type; those that `old` had already are left out.
std::vector<std::string> schema_warnings(const Object& crd, const Object* old);

}  // namespace backplane::apiextensions
