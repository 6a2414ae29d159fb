#include "policies/validator.hpp"

#include <algorithm>
#include <chrono>

#include "backplane/core/json_access.hpp"
#include "policies/evaluation.hpp"

namespace backplane::admission::policies {
namespace {

using Audience = PolicyRequest::Audience;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kLongestMessage = 5 * 1024;
// An upper bound of the cost of one call: the last step of a call may exceed the limit.
constexpr std::uint64_t kMaxCallCost = cel::kCostPerCall + cel::kCostPerCall / 2;

double seconds_since(Clock::time_point& from) {
  const auto now = Clock::now();
  const double out = std::chrono::duration<double>(now - from).count();
  from = now;
  return out;
}

class Validator {
 public:
  Validator(const Policy& policy, PolicyRequest& request, const NamedObjects& objects, const ObjectTreeRef& params)
      : policy_(policy), request_(request), objects_(objects), params_(params), cancelled_(cancellation_of(request.attributes())) {}

  ValidationResult run() {
    ConditionsResult conditions = match_conditions(policy_, request_, objects_, params_);
    if (request_.waits()) return {};
    if (!conditions.error.empty()) return failed(std::move(conditions.error));
    if (!conditions.match) return {};
    ValidationResult out;
    cel::Budget budget;
    std::string problem = evaluate_all(out.decisions, budget);
    if (problem.empty() && !request_.waits()) {
      add_messages(out.decisions, budget);
      problem = annotate(out.annotations);
    }
    return problem.empty() ? std::move(out) : failed(std::move(problem));
  }

 private:
  const std::function<bool()>* cancelled() const { return cancelled_ ? &cancelled_ : nullptr; }
  PolicyRequest::Bindings bindings(Audience audience) { return request_.bindings(policy_, objects_, params_, audience); }

  PolicyDecision failure(std::string message) const {
    return {.denies = !policy_.ignores_failure, .failed = true, .message = std::move(message)};
  }
  ValidationResult failed(std::string message) const {
    ValidationResult out;
    out.decisions.push_back(failure(std::move(message)));
    return out;
  }

  // Returns the error that replaces all decisions; empty: there is none.
  std::string evaluate_all(std::vector<PolicyDecision>& out, cel::Budget& budget) {
    if (policy_.validations.empty()) return {};
    const auto bound = bindings(Audience::kExpressions);
    cel::Scope scope(bound.span(), policy_.variables, cancelled());
    out.reserve(policy_.validations.size());
    auto at = Clock::now();
    for (const Validation& validation : policy_.validations) {
      Evaluated evaluated = evaluate(scope, validation.expression, budget);
      if (evaluated.out_of_budget) return std::move(evaluated.error);
      PolicyDecision& decision = out.emplace_back();
      if (!evaluated.error.empty()) {
        decision = failure(std::move(evaluated.error));
      } else if (!evaluated.value.is_bool() || !evaluated.value.get_bool()) {
        decision.denies = true;
        decision.reason = validation.reason;
      }
      decision.seconds = seconds_since(at);
    }
    return {};
  }

  // Upstream evaluates every message, even if it is not needed. That has an effect only if the messages can exhaust the budget.
  bool can_exhaust(const cel::Budget& budget) const {
    std::uint64_t most = policy_.variables.size() * kMaxCallCost;
    for (const Validation& validation : policy_.validations) {
      if (validation.message.program != nullptr) most += std::min(validation.message.program->cost().max, kMaxCallCost);
    }
    return most > budget.left;
  }

  void add_messages(std::vector<PolicyDecision>& decisions, cel::Budget& budget) {
    const auto has_message = [](const Validation& each) { return each.message.program != nullptr || !each.message.problem.empty(); };
    const bool all = std::any_of(policy_.validations.begin(), policy_.validations.end(), has_message) && can_exhaust(budget);
    const auto is_denied = [](const PolicyDecision& each) { return each.denies && !each.failed; };
    if (!all && std::none_of(decisions.begin(), decisions.end(), is_denied)) return;
    const auto bound = bindings(Audience::kMessages);
    cel::Scope scope(bound.span(), policy_.variables, cancelled());
    std::vector<std::string> messages(decisions.size());
    for (std::size_t i = 0; i < decisions.size(); ++i) {
      const Validation& validation = policy_.validations[i];
      if (!has_message(validation) || (!all && !is_denied(decisions[i]))) continue;
      const Evaluated evaluated = evaluate(scope, validation.message, budget);
      if (evaluated.out_of_budget) return fail_messages(decisions);
      if (evaluated.error.empty()) messages[i] = usable_message(text_of(evaluated.value));
    }
    for (std::size_t i = 0; i < decisions.size(); ++i) {
      if (is_denied(decisions[i])) decisions[i].message = message_of(policy_.validations[i], std::move(messages[i]));
    }
  }

  void fail_messages(std::vector<PolicyDecision>& decisions) const {
    for (PolicyDecision& decision : decisions) {
      if (decision.failed) continue;
      const double seconds = decision.seconds;
      decision = failure("failed messageExpression: " + std::string(kOutOfBudget));
      decision.seconds = seconds;
    }
  }

  static std::string usable_message(std::string_view text) {
    const std::string_view message = trimmed_text(text);
    return message.size() > kLongestMessage || message.find('\n') != std::string_view::npos ? std::string() : std::string(message);
  }

  static std::string message_of(const Validation& validation, std::string message) {
    if (!message.empty()) return message;
    if (!validation.text.empty()) return validation.text;
    return "failed expression: " + std::string(trimmed_text(validation.expression.source));
  }

  std::string annotate(std::vector<AnnotationResult>& out) {
    if (policy_.annotations.empty()) return {};
    const auto bound = bindings(Audience::kMessages);
    cel::Scope scope(bound.span(), policy_.variables, cancelled());
    cel::Budget budget;
    auto at = Clock::now();
    for (const AuditAnnotation& annotation : policy_.annotations) {
      Evaluated evaluated = evaluate(scope, annotation.value, budget);
      if (evaluated.out_of_budget) return std::move(evaluated.error);
      AnnotationResult& result = out.emplace_back();
      result.annotation = &annotation;
      result.seconds = seconds_since(at);
      if (evaluated.error.empty()) {
        result.value = trimmed_text(text_of(evaluated.value));
      } else if (!policy_.ignores_failure) {
        result.error = std::move(evaluated.error);
      }
    }
    return {};
  }

  const Policy& policy_;
  PolicyRequest& request_;
  const NamedObjects& objects_;
  const ObjectTreeRef& params_;
  const std::function<bool()> cancelled_;
};

}  // namespace

ValidationResult validate_policy(const Policy& policy, PolicyRequest& request, const NamedObjects& objects, const ObjectTreeRef& params) {
  return Validator(policy, request, objects, params).run();
}

}  // namespace backplane::admission::policies
