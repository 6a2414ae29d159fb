// What reviews of access ask of the authorizers, and what may be wrong with the question.
//
// Thread-safety: pure functions.
#pragma once

#include <string>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "backplane/points/authentication.hpp"
#include "backplane/points/authorization.hpp"

namespace backplane::authorization {

// Of the spec of a review; `user` is who is asked about.  Selectors that cannot be read leave an error behind, and those of their
// requirements that can.
AuthorizationAttributes attributes_of(const Object& spec, UserRef user);
// status.evaluationError: what the authorizers had trouble with, and selectors that were not read in whole.
std::string evaluation_error(const Status& error, const AuthorizationAttributes& attributes);

// Rules of the spec that all reviews of access have.
void check_attributes(const Object& spec, FieldErrors& errors);

}  // namespace backplane::authorization
