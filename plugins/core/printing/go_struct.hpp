// Values as kube-apiserver's own Go structs print them: every field in the struct's order under its Go name, unset ones too.  Messages
// of a few rules quote them, and clients see the difference of two of them.
//
// Thread-safety: pure functions.
// Source:        the schema of the core group (x-backplane-go-name …).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/json.hpp"

namespace backplane::core {

// `object` of the type in the versioned API ("PodSpec"), as its Go struct is marshalled.
Value go_struct(std::string_view type, const Object& object);
// A list of such structs; null when there is none.
Value go_structs(std::string_view type, const Array* list);

// The lines of json.MarshalIndent with one space.
std::vector<std::string> indented_lines(const Value& value);

// How two objects of the type differ, as a unified diff of those lines; nothing when they are the same to Go, unset or not.  Empty where
// the diff would be too long to find.
std::optional<std::string> struct_difference(std::string_view type, const Object& before, const Object& after);

}  // namespace backplane::core
