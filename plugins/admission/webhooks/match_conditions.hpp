// The matchConditions of one webhook: CEL expressions that must all be true for the webhook to be called.
//
// Thread-safety: immutable; any thread.
// Lifetime:      the trees of a ConditionInput live until evaluate() has returned.
// Errors:        an expression that does not compile or cannot be evaluated makes the result an error, unless another one is false. The
//                caller applies the failure policy.
// Source:        k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions, pkg/admission/plugin/cel.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/types/cel.hpp"

namespace backplane::admission::webhooks {

// The values of the variables. A null pointer is the value null; namespaceObject is always null, as upstream.
struct ConditionInput {
  const Object* object = nullptr;
  const Object* old_object = nullptr;
  const Value* request = nullptr;
  const cel::HostValue* authorizer = nullptr;
  const cel::HostValue* request_resource = nullptr;
};

class MatchConditions {
 public:
  struct Verdict {
    bool matches = false;
    std::string error;          // not empty: the failure policy decides
    int evaluation_errors = 0;  // counted in the metrics
  };

  // Returns null if the webhook has none.
  static std::shared_ptr<const MatchConditions> compile(const Object& webhook);
  Verdict evaluate(const ConditionInput& input) const;
  bool uses_authorizer() const noexcept { return uses_authorizer_; }

 private:
  struct Condition {
    std::shared_ptr<const cel::Program> program;  // null: `problem` has the reason
    std::string expression, problem;
  };
  std::vector<Condition> conditions_;
  bool uses_authorizer_ = false;
};

}  // namespace backplane::admission::webhooks
