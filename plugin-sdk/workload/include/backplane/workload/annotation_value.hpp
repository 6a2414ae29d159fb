// Reads annotations whose value is a typed object as JSON, with the messages of Go's encoding/json.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "backplane/core/json.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::workload {

// The name of the value's kind in encoding/json: object, array, string, number, bool.
std::string_view go_kind(const Value& value);

struct AnnotationValue {
  Value value;          // null if the text is "null" or has a problem
  std::string problem;  // empty: no problem
};

// Reads a text that holds an object of the type; `go_type`: the type's name in messages ("v1.AvoidPods").
AnnotationValue read_annotation(std::string_view text, const Schema& type, std::string_view go_type);
// Reads a text that holds a list of such objects; `go_type`: of an item ("core.Taint").
AnnotationValue read_annotation_list(std::string_view text, const Schema& type, std::string_view go_type);

}  // namespace backplane::workload
