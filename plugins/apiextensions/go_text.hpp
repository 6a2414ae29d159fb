// Prints parts of a definition as Go prints kube-apiserver's types in messages: every member, unset ones too, under its Go name.
//
// Thread-safety: pure functions.
#pragma once

#include <string>
#include <vector>

#include "backplane/core/json.hpp"

namespace backplane::apiextensions {

// apiextensions.JSONSchemaProps.
std::string schema_text(const Object& schema);
// apiextensions.ValidationRule: an item of x-kubernetes-validations.
std::string rule_text(const Object& rule);
// apiextensions.CustomResourceDefinitionSpec.Versions.  Members equal in all versions are left out: that type has them at the
// spec.
std::string versions_text(const std::vector<const Object*>& versions);

// True if the member `key` is equal in all versions; upstream then has it at the spec, and uses that path in its messages.
bool is_shared(const std::vector<const Object*>& versions, std::string_view key);

}  // namespace backplane::apiextensions
