// The results of mutating policies' expressions: named objects and JSON patches.
//
// Thread-safety: pure functions.
// Errors:        problems are texts as upstream prints them.
#pragma once

#include <string>
#include <vector>

#include "backplane/types/cel_scope.hpp"
#include "cel/value.hpp"

namespace backplane::cel_detail {

// Returns the type names in an Object{…} that do not match their fields' names, one per line; empty: all match.
std::string type_name_problems(const Val& object);
// The values of an Object{…} that upstream cannot convert to JSON.
std::vector<cel::GoValue> go_values_in(Arena& arena, const Val& object);
// Converts a list of JSONPatch{…} to RFC 6902. `problem`: the reason for a failure.
Array patch_operations(Arena& arena, const Val& list, std::string& problem);

}  // namespace backplane::cel_detail
