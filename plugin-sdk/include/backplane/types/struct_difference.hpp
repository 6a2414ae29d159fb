// The diff in error messages of rules that allow only some fields to change ("pod updates may not change fields other than …").
//
// Thread-safety: pure function.
#pragma once

#include <optional>
#include <string>

#include "backplane/types/schema.hpp"

namespace backplane BACKPLANE_API {

// Returns a unified diff of two objects as kube-apiserver prints their Go structs (Schema::go_struct), indented by one space. nullopt if
// they are equal in Go, where an unset and an empty value are equal. Empty if the diff would take too long.
std::optional<std::string> struct_difference(const Schema& type, const Object& before, const Object& after);

}  // namespace BACKPLANE_API
