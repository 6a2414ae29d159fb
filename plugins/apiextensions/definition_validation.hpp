// The validation of CustomResourceDefinitions (apiextensions/validation). Errors name fields as upstream does: a member that is equal in
// all versions has its path at the spec ("spec.validation.openAPIV3Schema").
//
// Thread-safety: pure functions.
#pragma once

#include <string>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"

namespace backplane::apiextensions {

// `old`: null on create.  An unchanged spec is not validated again.
void validate_definition(const Object& crd, const Object* old, FieldErrors& errors);
// `names`: spec.names or status.acceptedNames, at `path`.
void validate_names(const Object& names, const std::string& path, FieldErrors& errors);

}  // namespace backplane::apiextensions
