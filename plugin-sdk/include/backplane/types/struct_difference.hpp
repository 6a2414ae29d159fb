// How a struct differs from what it was, as clients are told by rules that let only a part of it change.
//
// Thread-safety: pure function.
#pragma once

#include <optional>
#include <string>

#include "backplane/types/schema.hpp"

namespace backplane BACKPLANE_API {

// A unified diff of the two as kube-apiserver's own Go structs print them (Schema::go_struct), indented by one space; nothing when they
// are the same to Go, unset or not.  Empty where the diff would take too long to find.
std::optional<std::string> struct_difference(const Schema& type, const Object& before, const Object& after);

}  // namespace BACKPLANE_API
