// The reason why a JSON patch cannot be applied, in the words of json-patch. json_patch() of the SDK has only one text for all problems,
// because PATCH requests need no other.
//
// Thread-safety: a pure function.
// Source:        gopkg.in/evanphx/json-patch.v4.
#pragma once

#include <string>

#include "backplane/core/json.hpp"

namespace backplane::admission::webhooks {

// Precondition: json_patch(object, operations) has failed.
std::string patch_problem(const Object& object, const Array& operations);

}  // namespace backplane::admission::webhooks
