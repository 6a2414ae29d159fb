// The reason why a JSON patch cannot be applied, in json-patch's text: the SDK's json_patch() has one text for all problems, as the API's
// PATCH needs it.
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
