// Rules asked about an object, and about what it is to replace (Validator of k8s.io/apiextensions-apiserver's schema/cel).
//
// What fails and was so before, where nothing has changed, is a warning (validation ratcheting); rules that compare with the old value are
// not let off.
// Thread-safety: a run belongs to one thread.
// Lifetime:      borrows the rules and both trees.
// Errors:        go into FieldErrors, as upstream words them; a run that has cost too much says so and ends.
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

// Upstream asks no rules about an object that has problems of these kinds, and says so.
bool blocks_rules(const FieldErrors& errors);
void say_blocked(FieldErrors& errors);

}  // namespace backplane::apiextensions
