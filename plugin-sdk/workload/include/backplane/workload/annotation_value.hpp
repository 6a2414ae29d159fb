// Reads annotations whose value is a typed object as JSON, with the messages of Go's encoding/json.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "backplane/core/json.hpp"
#include "backplane/types/schema.hpp"

namespace backplane::workload {

// Returns encoding/json's name for the kind of the value: object, array, string, number or bool.
std::string_view go_kind(const Value& value);

struct AnnotationValue {
  Value value;          // null if the text is "null" or is invalid
  std::string problem;  // the error; empty: the text is valid
};

// Reads a text that contains an object of the type `type`. `go_type`: the type's name in messages ("v1.AvoidPods").
AnnotationValue read_annotation(std::string_view text, const Schema& type, std::string_view go_type);
// Reads a text that contains a list of such objects. `go_type`: the name of an item's type ("core.Taint").
AnnotationValue read_annotation_list(std::string_view text, const Schema& type, std::string_view go_type);

}  // namespace backplane::workload
