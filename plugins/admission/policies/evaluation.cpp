#include "policies/evaluation.hpp"

#include <chrono>

#include "backplane/core/json_access.hpp"
#include "common/aggregate.hpp"
#include "policies/policy_metrics.hpp"

namespace backplane::admission::policies {
namespace {

using Clock = std::chrono::steady_clock;
using End = cel::Outcome::End;

cel::Outcome run_form(cel::Scope& scope, const cel::Program& program, cel::Budget& budget, ResultForm form,
                      std::vector<cel::GoValue>& go_values) {
  switch (form) {
    case ResultForm::kObject:
      return scope.run_object(program, budget, &go_values);
    case ResultForm::kPatch:
      return scope.run_patch(program, budget);
    case ResultForm::kValue:
      break;
  }
  return scope.run(program, budget);
}

}  // namespace

Evaluated evaluate(cel::Scope& scope, const Expression& expression, cel::Budget& budget, ResultForm form) {
  if (expression.program == nullptr) return {nullptr, "compilation error: " + expression.problem};
  std::vector<cel::GoValue> go_values;
  cel::Outcome outcome = run_form(scope, *expression.program, budget, form, go_values);
  if (outcome.end == End::kValue) return {std::move(outcome.value), {}, false, std::move(go_values)};
  if (outcome.end == End::kNoBudget) return {nullptr, std::string(kOutOfBudget), true};
  if (form != ResultForm::kValue && outcome.message.starts_with("type mismatch: ")) return {nullptr, std::move(outcome.message)};
  return {nullptr, "expression '" + expression.source + "' resulted in error: " + outcome.message};
}

std::function<bool()> cancellation_of(const AdmissionAttributes& attributes) {
  const RequestContext* context = attributes.context;
  if (context == nullptr || context->deadline == Clock::time_point::max()) return {};
  return [context] { return Clock::now() >= context->deadline; };
}

ConditionsResult match_conditions(const Policy& policy, PolicyRequest& request, const NamedObjects& objects, const ObjectTreeRef& params) {
  if (policy.conditions.empty()) return {};
  const AdmissionAttributes& attributes = request.attributes();
  const auto began = Clock::now();
  const PolicyRequest::Bindings bindings = request.bindings(policy, objects, params, PolicyRequest::Audience::kConditions);
  const auto cancelled = cancellation_of(attributes);
  cel::Scope scope(bindings.span(), policy.variables, cancelled ? &cancelled : nullptr);
  cel::Budget budget{.left = cel::kCostOfMatchConditions};
  std::vector<std::string> errors;
  ConditionsResult out;
  bool failed = false;
  // All conditions are evaluated before a result is used: an exhausted budget takes precedence over a condition that is false.
  for (const Expression& condition : policy.conditions) {
    const Evaluated evaluated = evaluate(scope, condition, budget);
    if (request.waits()) return out;
    if (evaluated.out_of_budget) {
      errors = {evaluated.error};
      out.match = true;
      break;
    }
    if (!evaluated.error.empty()) errors.push_back(evaluated.error);
    if (evaluated.error.empty() && evaluated.value.is_bool() && !evaluated.value.get_bool()) out.match = false;
    failed = failed || !evaluated.error.empty();
  }
  if (failed) count_condition_errors(policy.name, attributes.operation, errors.size());
  observe_conditions(policy.name, attributes.operation, std::chrono::duration<double>(Clock::now() - began).count());
  if (!out.match || errors.empty()) return out;
  out.match = false;
  if (!policy.ignores_failure) out.error = aggregate_text(errors);
  return out;
}

}  // namespace backplane::admission::policies
