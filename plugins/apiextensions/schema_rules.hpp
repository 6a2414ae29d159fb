// The rules for schemas of custom resource definitions: the part of OpenAPI v3 that Kubernetes accepts, structural, with valid defaults.
// (apiextensions/validation and apiserver/schema of k8s.io/apiextensions-apiserver.)
//
// Thread-safety: pure functions.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "rule_checks.hpp"

namespace backplane::apiextensions {

// Adds the problems of `schema`; `path`: its path in errors. `status_enabled`: the status subresource is on, which limits the root.
void validate_schema(const Object& schema, const std::string& path, bool status_enabled, const KnownRules& known, FieldErrors& errors);

// Parts of validate_schema():
// The reason why no structural schema can be made (NewStructural); empty: one can.
std::string structural_problem(const Object& schema);
void check_structure(const Object& schema, const std::string& path, FieldErrors& errors);
// True if neither structural_problem() nor check_structure() finds a problem.
bool is_structural(const Object& schema);
// Whether the schema has a type that OpenAPI v3 lacks.
bool has_unknown_types(const Object& schema);
void check_defaults(const Object& schema, const std::string& path, FieldErrors& errors);

// The types of OpenAPI v3, sorted.
const std::vector<std::string>& schema_types();

// Calls `visit` for the schema and every schema in it; stops when it returns true, and then returns true.
bool any_schema(const Object& schema, const std::function<bool(const Object&)>& visit);

// "path.properties[name]".
inline std::string property_path(const std::string& path, std::string_view name) { return path + ".properties[" + std::string(name) + "]"; }
inline std::string index_path(const std::string& path, std::string_view key, std::size_t i) {
  return path + "." + std::string(key) + "[" + std::to_string(i) + "]";
}

}  // namespace backplane::apiextensions
