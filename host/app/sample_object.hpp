// An object of a type, made from its structural schema: required members with the smallest values that the schema allows.
//
// Thread-safety: pure functions.
// Errors:        SampleObject::problems: the errors of the schema's validation (for example, a pattern that no common text matches).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/meta.hpp"

namespace backplane {

struct SampleObject {
  Object object;
  std::vector<std::string> problems;  // "spec.code: Invalid value: …"
};

// `document`: a schema document with the definition `definition`, of the kind `gvk`. The object has the name "first" and no status.
SampleObject sample_of_type(const GroupVersionKind& gvk, std::string_view document, std::string_view definition);
// A value of one schema. Members that are not required are absent.
Value sample_of(const Object& schema);

}  // namespace backplane
