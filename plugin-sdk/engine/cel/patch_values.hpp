// What expressions of mutating policies give: objects made by name, and JSON patches.
//
// Thread-safety: pure functions.
// Errors:        problems are texts as upstream prints them.
#pragma once

#include <string>

#include "cel/value.hpp"

namespace backplane::cel_detail {

// The type names in an Object{…} that do not follow the names of its fields, a line each; empty: all do.
std::string type_name_problems(const Val& object);
// A list of JSONPatch{…} as RFC 6902 has it. `problem`: why not.
Array patch_operations(Arena& arena, const Val& list, std::string& problem);

}  // namespace backplane::cel_detail
