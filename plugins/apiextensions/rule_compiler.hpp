// x-kubernetes-validations of one part of a schema, compiled (Compile of k8s.io/apiextensions-apiserver's schema/cel).
//
// Thread-safety: a compiler belongs to one thread; its results are immutable.
// Errors:        with upstream's messages, in the result.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "backplane/core/json.hpp"
#include "backplane/types/cel.hpp"

namespace backplane::apiextensions {

struct CompiledRule {
  std::shared_ptr<const cel::Program> program;  // null: the rule is empty, or there is a problem
  std::string problem;
  std::shared_ptr<const cel::Program> message;  // of messageExpression; null: it is absent or does not compile
  std::string message_problem;
  bool uses_old = false;
  std::uint64_t cost = 0;
  std::uint64_t message_cost = 0;
};

class RuleCompiler {
 public:
  // For the rules of the part of a schema from which `type` was declared.
  explicit RuleCompiler(cel::TypeRef type) : type_(std::move(type)) {}

  // `rule_is_stored`, `message_is_stored`: the stored definition contains the expression, which may then use the features of every version.
  CompiledRule compile(const Object& rule, bool rule_is_stored, bool message_is_stored);

 private:
  const cel::Environment& environment(bool optional_old, bool stored);

  cel::TypeRef type_;
  std::shared_ptr<const cel::Environment> environments_[2][2];
};

}  // namespace backplane::apiextensions
