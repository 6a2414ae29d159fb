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
  bool any_cost = false;       // cost limits are not checked, because the schema has not changed
  bool unstructured = false;   // schemas need not be structural
  bool unknown_types = false;  // types that OpenAPI v3 does not have are allowed
};
// `old`: a definition, or null.
KnownRules known_rules(const Object* old);

// Checks the structure of x-kubernetes-validations of `schema`; `path`: of the schema.
void check_rule_forms(const Object& schema, const std::string& path, FieldErrors& errors);
// `uncorrelated`: the path of an enclosing schema (such as a list without keys) because of which this part cannot be compared with its old
// value; empty: there is none.
void check_rules(const Object& schema, const std::string& path, const RuleScope& scope, const std::string& uncorrelated,
                 const KnownRules& known, FieldErrors& errors);

}  // namespace backplane::apiextensions
