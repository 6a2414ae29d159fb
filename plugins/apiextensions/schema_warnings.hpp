// Warnings about a definition that is accepted.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <vector>

#include "backplane/core/json.hpp"

namespace backplane::apiextensions {

// Warnings about formats that are not validated for their type. Formats that `old` has, too, are left out.
std::vector<std::string> schema_warnings(const Object& crd, const Object* old);

}  // namespace backplane::apiextensions
