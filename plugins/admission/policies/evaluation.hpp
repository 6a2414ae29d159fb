// Evaluates single expressions and the match conditions of a policy.
//
// Thread-safety: one request.
// Errors:        texts as upstream prints them.
// Source:        Evaluate of k8s.io/apiserver/pkg/admission/plugin/cel/activation.go; …/webhook/matchconditions/matcher.go.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "policies/policy_request.hpp"

namespace backplane::admission::policies {

inline constexpr std::string_view kOutOfBudget =
    "validation failed due to running out of cost budget, no further validation rules will be run";

struct Evaluated {
  Value value;
  std::string error;                         // not empty: there is no value
  bool out_of_budget = false;                // no further expression is evaluated
  std::vector<cel::GoValue> go_values = {};  // for ResultForm::kObject
};
enum class ResultForm : unsigned char { kValue, kObject, kPatch };
Evaluated evaluate(cel::Scope& scope, const Expression& expression, cel::Budget& budget, ResultForm form = ResultForm::kValue);

// Returns a function that ends an evaluation at the request's deadline; empty if there is no deadline.
std::function<bool()> cancellation_of(const AdmissionAttributes& attributes);

struct ConditionsResult {
  bool match = true;
  std::string error;  // not empty: an error of the conditions, which the policy does not ignore
};
// `params`: null if there are none. If the request waits (PolicyRequest::waits), the caller must drop the result.
ConditionsResult match_conditions(const Policy& policy, PolicyRequest& request, const NamedObjects& objects, const ObjectTreeRef& params);

}  // namespace backplane::admission::policies
