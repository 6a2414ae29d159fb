// Prints parts of a definition as Go prints kube-apiserver's types in messages: every member, unset ones too, under its Go name.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <vector>

#include "backplane/core/json.hpp"

namespace backplane::apiextensions {

// Prints a schema as apiextensions.JSONSchemaProps.
std::string schema_text(const Object& schema);
// Prints an item of x-kubernetes-validations as apiextensions.ValidationRule.
std::string rule_text(const Object& rule);
// Prints versions as apiextensions.CustomResourceDefinitionSpec.Versions.  Members that are equal in all versions are left out, because
// that type has them at the spec.
std::string versions_text(const std::vector<const Object*>& versions);

// True if the member `key` is equal in all versions; upstream then has it at the spec, and uses that path in its messages.
bool is_shared(const std::vector<const Object*>& versions, std::string_view key);

}  // namespace backplane::apiextensions
