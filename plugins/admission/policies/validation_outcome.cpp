#include "policies/validation_outcome.hpp"

#include <algorithm>

#include "policies/policy_metrics.hpp"

namespace backplane::admission::policies {
namespace {

constexpr std::size_t kLongestAnnotation = 10 * 1024;
constexpr const char* kFailureKey = "validation.policy.admission.k8s.io/validation_failure";

int code_of(Reason reason) noexcept {
  switch (reason) {
    case Reason::kForbidden:
    case Reason::kUnauthorized:
    case Reason::kRequestEntityTooLarge:
      return reason_code(reason);
    default:
      return 422;
  }
}

std::string failure_text(const Binding& binding, const PolicyDecision& decision, std::size_t place) {
  Array actions;
  for (const std::string& action : binding.actions) actions.emplace_back(action);
  Object failure;
  failure.emplace("message", decision.message);
  failure.emplace("policy", binding.policy);
  failure.emplace("binding", binding.name);
  failure.emplace("expressionIndex", place);
  failure.emplace("validationActions", std::move(actions));
  return to_json(Array{std::move(failure)});
}

}  // namespace

void ValidationOutcome::deny(const Policy& policy, const Binding* binding, std::string message, Reason reason) {
  if (denied_) return;
  denied_ = true;
  message_ = "ValidatingAdmissionPolicy '" + policy.name + "'";
  if (binding != nullptr) message_ += " with binding '" + binding->name + "'";
  message_ += " denied request: " + message;
  reason_ = reason == Reason::kNone ? Reason::kInvalid : reason;
}

void ValidationOutcome::add_problem(const Policy& policy, const Binding* binding, const std::string& problem) {
  if (policy.ignores_failure) return;
  deny(policy, binding, (binding == nullptr ? "failed to configure policy: " : "failed to configure binding: ") + problem, Reason::kNone);
}

void ValidationOutcome::add_results(const Policy& policy, const Binding& binding, const std::vector<ValidationResult>& results) {
  for (const ValidationResult& result : results) {
    for (std::size_t i = 0; i < result.decisions.size(); ++i) add_decision(policy, binding, result.decisions[i], i);
    for (const AnnotationResult& annotation : result.annotations) add_annotation(policy, binding, annotation);
  }
}

void ValidationOutcome::add_decision(const Policy& policy, const Binding& binding, const PolicyDecision& decision, std::size_t place) {
  const auto count = [&](std::string_view action) {
    count_validation(policy.name, binding.name, error_type_of(decision.message), action, decision.seconds);
  };
  if (!decision.denies) {
    if (decision.failed) count("allow");
    return;
  }
  for (const std::string& action : binding.actions) {
    if (action == "Deny") {
      deny(policy, &binding, decision.message, decision.reason);
      count("deny");
    } else if (action == "Audit") {
      annotate(kFailureKey, failure_text(binding, decision, place), policy);
      count("audit");
    } else if (action == "Warn") {
      attributes_.warn("Validation failed for ValidatingAdmissionPolicy '" + policy.name + "' with binding '" + binding.name +
                       "': " + decision.message);
      count("warn");
    }
  }
}

void ValidationOutcome::add_annotation(const Policy& policy, const Binding& binding, const AnnotationResult& result) {
  if (!result.error.empty()) {
    deny(policy, &binding, result.error, Reason::kNone);
    count_validation(policy.name, binding.name, error_type_of(result.error), "deny", result.seconds);
    return;
  }
  if (result.value.empty()) return;
  const std::string value = result.value.substr(0, kLongestAnnotation);
  auto found =
      std::find_if(annotations_.begin(), annotations_.end(), [&](const auto& each) { return each.first == result.annotation->key; });
  if (found == annotations_.end()) found = annotations_.insert(found, {result.annotation->key, {}});
  auto& values = found->second;
  if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
}

void ValidationOutcome::end_policy(const Policy& policy) {
  for (const auto& [key, values] : annotations_) {
    std::string joined;
    for (const std::string& value : values) joined.append(joined.empty() ? "" : ", ").append(value);
    annotate(policy.name + "/" + key, std::move(joined), policy);
  }
  annotations_.clear();
}

void ValidationOutcome::annotate(const std::string& key, std::string value, const Policy& policy) {
  const Status added = attributes_.annotate(key, std::move(value));
  if (!added.ok()) {
    logger_.warn("cannot set the audit annotation of a policy key=" + key + " policy=" + policy.name + " error=" + quoted(added.message()));
  }
}

Status ValidationOutcome::refusal() const {
  if (!denied_) return {};
  const Status forbidden = admission_forbidden(attributes_, message_);
  StatusDetails details = forbidden.details() != nullptr ? *forbidden.details() : StatusDetails();
  details.causes.push_back({.reason = {}, .message = message_, .field = {}});
  return Status(code_of(reason_), reason_, forbidden.message()).with_details(std::move(details));
}

}  // namespace backplane::admission::policies
