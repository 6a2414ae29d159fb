// The diff in error messages of rules that allow only some fields to change ("pod updates may not change fields other than …").
//
// Thread-safety: pure function.
#pragma once

#include <optional>
#include <string>

#include "backplane/types/schema.hpp"

namespace backplane BACKPLANE_API {

// A unified diff of the two objects as kube-apiserver prints its Go structs (Schema::go_struct), indented by one space; nullopt if they
// are equal in Go (unset or empty alike); empty if computing the diff would take too long.
std::optional<std::string> struct_difference(const Schema& type, const Object& before, const Object& after);

}  // namespace BACKPLANE_API
