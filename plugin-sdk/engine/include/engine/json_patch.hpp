// Applies JSON patches and reports why a patch cannot be applied. Patches of clients use json_patch() of backplane/types/schema.hpp, which
// returns the same error for all reasons.
//
// Thread-safety: pure functions.
// Errors:        those of json_patch(Value&, const Array&).
#pragma once

#include <string>

#include "backplane/types/schema.hpp"

namespace backplane BACKPLANE_API {

// The reason why a patch cannot be applied, with the message of github.com/evanphx/json-patch v4.
struct JsonPatchProblem {
  bool test_failed = false;  // a "test" operation found a different value
  std::string text;          // empty for patches that are too large
};
// Fills in `problem` if it returns an error.
Status json_patch(Value& target, const Array& operations, JsonPatchProblem& problem);

}  // namespace BACKPLANE_API
