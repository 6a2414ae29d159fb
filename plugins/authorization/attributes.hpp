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

// The attributes of a review's spec; `user`: its subject.  A selector that cannot be parsed leaves an error and its valid requirements.
AuthorizationAttributes attributes_of(const Object& spec, UserRef user);
// status.evaluationError: errors of the authorizers, and of selectors that were not parsed completely.
std::string evaluation_error(const Status& error, const AuthorizationAttributes& attributes);

// Validates the part of the spec that all access reviews have.
void check_attributes(const Object& spec, FieldErrors& errors);

}  // namespace backplane::authorization
