// Evaluation of rules on an object and its old value (Validator of k8s.io/apiextensions-apiserver's schema/cel).
//
// A failure of an unchanged value is a warning (validation ratcheting); rules that compare with the old value are
// not let off.
// Thread-safety: a run belongs to one thread.
// Lifetime:      borrows the rules and both trees.
// Errors:        go into FieldErrors, with upstream's messages; a run that costs too much ends with an error.
#pragma once

#include <string>
#include <vector>

#include "backplane/core/status.hpp"
#include "backplane/types/cel.hpp"
#include "rule_tree.hpp"

namespace backplane::apiextensions {

struct RuleFindings {
  FieldErrors& errors;
  std::vector<std::string>& warnings;
};

// `old`: null on create.  `ratchet`: what has not changed may fail.
void run_rules(const RuleNode& rules, const Value& object, const Value* old, bool ratchet, const std::string& path, cel::Budget& budget,
               RuleFindings findings);

// Upstream runs no rules on an object that has errors of these types, and reports that.
bool blocks_rules(const FieldErrors& errors);
void say_blocked(FieldErrors& errors);

}  // namespace backplane::apiextensions
