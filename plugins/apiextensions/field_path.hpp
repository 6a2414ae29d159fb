// Paths into a schema as definitions write them: ".spec.color", ".spec['a.b']" (ValidFieldPath of k8s.io/apiextensions-apiserver).
//
// Thread-safety: pure functions.
// Lifetime:      `schema` of a result is part of the argument.
// Errors:        FieldPath::problem, with upstream's messages.
#pragma once

#include <string>
#include <string_view>

#include "backplane/core/json.hpp"

namespace backplane::apiextensions {

struct FieldPath {
  std::string problem;             // empty: the path is valid
  std::string text;                // for messages: "spec.color", "labels[a]"
  std::string root;                // the first step of the path: "spec"
  const Object* schema = nullptr;  // the schema at the end of the path; null: the schema does not describe it
};

// `brackets`: steps may be written in brackets.
FieldPath follow_path(std::string_view json_path, const Object& schema, bool brackets);

}  // namespace backplane::apiextensions
