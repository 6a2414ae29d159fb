// Evaluation of rules on an object and its old value (Validator of k8s.io/apiextensions-apiserver's schema/cel).
//
// A failure of an unchanged value is a warning (validation ratcheting); transition rules always fail with an error.
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

// `old`: null on create. `ratchet`: a failure of an unchanged value is a warning.
void run_rules(const RuleNode& rules, const Value& object, const Value* old, bool ratchet, const std::string& path, cel::Budget& budget,
               RuleFindings findings);

// True if `errors` has an error of a type after which upstream runs no rules. report_rule_stopped() adds the error that upstream then
// reports.
bool blocks_rules(const FieldErrors& errors);
void report_rule_stopped(FieldErrors& errors);

}  // namespace backplane::apiextensions
