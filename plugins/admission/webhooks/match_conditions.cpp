#include "webhooks/match_conditions.hpp"

#include <algorithm>
#include <array>

#include "backplane/core/json_access.hpp"
#include "backplane/types/cel_policy.hpp"
#include "backplane/types/cel_scope.hpp"
#include "common/aggregate.hpp"

namespace backplane::admission::webhooks {
namespace {

constexpr std::string_view kOutOfBudget = "validation failed due to running out of cost budget, no further validation rules will be run";

const cel::Environment& condition_environment() {
  static const auto kEnvironment = cel::policy_environment({.stored = true});
  return *kEnvironment;
}

std::array<cel::ScopeBinding, 6> condition_bindings(const ConditionInput& input) {
  return {{{.name = "object", .object = input.object},
           {.name = "oldObject", .object = input.old_object},
           {.name = "request", .tree = input.request},
           {.name = "namespaceObject"},
           {.name = "authorizer", .host = input.authorizer},
           {.name = "authorizer.requestResource", .host = input.request_resource}}};
}

}  // namespace

std::shared_ptr<const MatchConditions> MatchConditions::compile(const Object& webhook) {
  if (count_of(webhook, "matchConditions") == 0) return nullptr;
  auto out = std::make_shared<MatchConditions>();
  each(webhook, "matchConditions", [&](const Object& given, std::size_t) {
    Condition condition;
    condition.expression = get_string(given, "expression");
    cel::Compiled compiled = condition_environment().compile(condition.expression);
    condition.problem =
        compiled.program == nullptr ? "compilation failed: " + compiled.problems : cel::result_problem(*compiled.program, {"bool"});
    if (condition.problem.empty()) condition.program = std::move(compiled.program);
    // The names of both variables, authorizer and authorizer.requestResource, begin with the word.
    out->uses_authorizer_ = out->uses_authorizer_ || condition.expression.find("authorizer") != std::string::npos;
    out->conditions_.push_back(std::move(condition));
  });
  return out;
}

MatchConditions::Verdict MatchConditions::evaluate(const ConditionInput& input) const {
  const auto bindings = condition_bindings(input);
  cel::Scope scope(bindings, {});
  cel::Budget budget;
  budget.left = cel::kCostOfMatchConditions;
  std::vector<std::string> problems;
  bool excluded = false;
  int errors = 0;  // before the first condition that is false
  for (const Condition& condition : conditions_) {
    if (condition.program == nullptr) {
      problems.push_back("compilation error: " + condition.problem);
      errors += excluded ? 0 : 1;
      continue;
    }
    const cel::Outcome outcome = scope.run(*condition.program, budget);
    if (outcome.end == cel::Outcome::End::kNoBudget) return {false, std::string(kOutOfBudget), 0};
    if (outcome.end != cel::Outcome::End::kValue) {
      problems.push_back("expression '" + condition.expression + "' resulted in error: " + outcome.message);
      errors += excluded ? 0 : 1;
    } else {
      excluded = excluded || !outcome.value.is_bool() || !outcome.value.get_bool();
    }
  }
  if (excluded) return {false, {}, errors};
  return {problems.empty(), aggregate_text(problems), errors};
}

}  // namespace backplane::admission::webhooks
