// Which validation rules a definition may have: written in full, compiling, and not too dear.
//
// Thread-safety: pure functions.
#pragma once

#include <set>
#include <string>

#include "rule_cost.hpp"

namespace backplane::apiextensions {

// The former content of the definition, which newer rules do not refuse.
struct KnownRules {
  std::set<std::string, std::less<>> rules;
  std::set<std::string, std::less<>> messages;
  bool any_cost = false;       // the schema has not changed
  bool unstructured = false;   // schemas that are not structural
  bool unknown_types = false;  // types that are none of OpenAPI v3
};
// `old`: a definition, or null.
KnownRules known_rules(const Object* old);

// Checks the structure of x-kubernetes-validations of `schema`; `path`: its place.
void check_rule_forms(const Object& schema, const std::string& path, FieldErrors& errors);
// Checks the rules.  `uncorrelated`: the path of the schema that prevents comparing this part with its old value; empty: none.
void check_rules(const Object& schema, const std::string& path, const RuleScope& scope, const std::string& uncorrelated,
                 const KnownRules& known, FieldErrors& errors);

}  // namespace backplane::apiextensions
