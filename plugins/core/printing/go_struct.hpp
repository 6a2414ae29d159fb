// Values as kube-apiserver's own Go structs print them: every field in the struct's order under its Go name, unset ones too.  Messages
// of a few rules quote them, and clients see the difference of two of them.
//
// Thread-safety: pure functions; the layouts are read once.
// Source:        schema/go_structs.json, read off k8s.io/kubernetes/pkg/apis/core of v1.36: type → [Go name, JSON name, form].  A form is
//                string, bool, int, quantity, intorstring, bytes, json (an API type: its own JSON), another type, and *, [] or map: before
//                one of these.  A JSON name that begins with ^ is a member of the object around; the form inline adds the members of an
//                API type without a name of its own.
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
