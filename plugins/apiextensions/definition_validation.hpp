// The rules of CustomResourceDefinitions (apiextensions/validation). Fields are named as upstream names them: a member that is equal in all
// versions has its path at the spec ("spec.validation.openAPIV3Schema").
//
// Thread-safety: pure functions.
#pragma once

#include <string>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"

namespace backplane::apiextensions {

// `old`: null on create.  An unchanged spec is not validated again.
void validate_definition(const Object& crd, const Object* old, FieldErrors& errors);
// spec.names or status.acceptedNames.
void validate_names(const Object& names, const std::string& path, FieldErrors& errors);

}  // namespace backplane::apiextensions
