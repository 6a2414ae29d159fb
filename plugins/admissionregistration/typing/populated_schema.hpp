// An OpenAPI schema with its references replaced by their targets, from which the types of expressions are made.
//
// Thread-safety: a pure function.
// Lifetime:      the result is independent of `schemas`.
// Errors:        nullopt: a schema that is referred to is missing.
// Source:        PopulateRefs of k8s.io/apiserver/pkg/cel/openapi/resolver.
#pragma once

#include <optional>
#include <string_view>

#include "backplane/core/json.hpp"

namespace backplane::admissionregistration {

// `schemas`: components.schemas of an OpenAPI v3 document; `root`: the name of one of them. Descriptions, examples and defaults are left
// out. A schema within itself is an object without properties.
std::optional<Object> populated_schema(const Object& schemas, std::string_view root);

}  // namespace backplane::admissionregistration
