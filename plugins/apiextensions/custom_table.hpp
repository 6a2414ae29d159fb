// Printer columns of a custom resource: Name, then what the definition's version asks for, or Age when it asks for nothing.
//
// Thread-safety: a pure function.
#pragma once

#include <vector>

#include "backplane/table.hpp"

namespace backplane::apiextensions {

// `version`: an element of spec.versions.
std::vector<TableColumn> custom_columns(const Object& version);

}  // namespace backplane::apiextensions
