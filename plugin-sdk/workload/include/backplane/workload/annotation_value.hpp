// Annotations whose value is JSON of a type: reading, with the messages of Go's encoding/json.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "backplane/core/json.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::workload {

// What encoding/json calls the value: object, array, string, number, bool.
std::string_view go_kind(const Value& value);

struct AnnotationValue {
  Value value;          // null if the text is "null" or has a problem
  std::string problem;  // empty: none
};

// A text that holds an object of the type; `go_type`: the name that messages have for it ("v1.AvoidPods").
AnnotationValue read_annotation(std::string_view text, const Schema& type, std::string_view go_type);
// A text that holds a list of such objects; `go_type`: of an item ("core.Taint").
AnnotationValue read_annotation_list(std::string_view text, const Schema& type, std::string_view go_type);

}  // namespace backplane::workload
