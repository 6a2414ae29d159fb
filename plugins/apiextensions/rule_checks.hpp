// Validation of a definition's validation rules: they must be complete, compile, and stay within the cost limits.
//
// Thread-safety: pure functions.
#pragma once

#include <set>
#include <string>

#include "rule_cost.hpp"

namespace backplane::apiextensions {

// Problems that the old definition has, which the update may retain.
struct KnownRules {
  std::set<std::string, std::less<>> rules;
  std::set<std::string, std::less<>> messages;
  bool any_cost = false;       // the schema has not changed
  bool unstructured = false;   // schemas that are not structural
  bool unknown_types = false;  // types that OpenAPI v3 does not have
};
// `old`: a definition, or null.
KnownRules known_rules(const Object* old);

// Checks the structure of x-kubernetes-validations of `schema`; `path`: of the schema.
void check_rule_forms(const Object& schema, const std::string& path, FieldErrors& errors);
// Checks the rules.  `uncorrelated`: the path of the schema that prevents comparing this part with its old value; empty: none.
void check_rules(const Object& schema, const std::string& path, const RuleScope& scope, const std::string& uncorrelated,
                 const KnownRules& known, FieldErrors& errors);

}  // namespace backplane::apiextensions
