// An OpenAPI schema whose references are replaced by their targets. The types of expressions are made from it.
//
// Thread-safety: a pure function.
// Lifetime:      the result is independent of `schemas`.
// Errors:        returns nullopt if a schema that is referred to is missing.
// Source:        PopulateRefs of k8s.io/apiserver/pkg/cel/openapi/resolver.
#pragma once

#include <optional>
#include <string_view>

#include "backplane/core/json.hpp"

namespace backplane::admissionregistration {

// `schemas`: components.schemas of an OpenAPI v3 document; `root`: the name of one of these schemas. Descriptions, examples and defaults
// are not copied. Where a schema contains itself, an object without properties replaces it.
std::optional<Object> populated_schema(const Object& schemas, std::string_view root);

}  // namespace backplane::admissionregistration
