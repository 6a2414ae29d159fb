// The authorizer attributes of access reviews, and the validation of reviews.
//
// Thread-safety: pure functions.
#pragma once

#include <string>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "backplane/points/authentication.hpp"
#include "backplane/points/authorization.hpp"

namespace backplane::authorization {

// Returns the attributes of a review's spec. `user`: the user whose access is reviewed. If a selector cannot be parsed completely, the
// attributes contain the error and the requirements that could be parsed.
AuthorizationAttributes attributes_of(const Object& spec, UserRef user);
// Returns status.evaluationError: the errors of the authorizers, and of selectors that were not parsed completely.
std::string evaluation_error(const Status& error, const AuthorizationAttributes& attributes);

// Validates the part of the spec that all access reviews have.
void check_attributes(const Object& spec, FieldErrors& errors);

}  // namespace backplane::authorization
