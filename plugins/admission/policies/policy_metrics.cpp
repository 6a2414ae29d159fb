#include "policies/policy_metrics.hpp"

#include "backplane/core/metrics.hpp"
#include "policies/evaluation.hpp"

namespace backplane::admission::policies {
namespace {

const std::vector<double>& check_bounds() {
  static const std::vector<double> bounds{0.0000005, 0.001, 0.01, 0.1, 1.0};
  return bounds;
}

}  // namespace

std::string_view error_type_of(std::string_view message) noexcept {
  if (message.empty()) return "no_error";
  if (message.starts_with("compilation")) return "compile_error";
  if (message.starts_with("validation failed due to running out of cost budget")) return "out_of_budget";
  return "invalid_error";
}

void count_validation(std::string_view policy, std::string_view binding, std::string_view error_type, std::string_view action,
                      double seconds) {
  static Metric& total = Metric::counter(
      "apiserver_validating_admission_policy_check_total",
      "[BETA] Validation admission policy check total, labeled by policy and further identified by binding and enforcement action taken.",
      {"enforcement_action", "error_type", "policy", "policy_binding"});
  static Metric& durations =
      Metric::histogram("apiserver_validating_admission_policy_check_duration_seconds",
                        "[BETA] Validation admission latency for individual validation expressions in seconds, labeled by policy and "
                        "further including binding and enforcement action taken.",
                        {"enforcement_action", "error_type", "policy", "policy_binding"}, check_bounds());
  total.add({action, error_type, policy, binding});
  durations.observe({action, error_type, policy, binding}, seconds);
}

void count_mutation(std::string_view policy, std::string_view binding, std::string_view error_type, double seconds) {
  static Metric& total =
      Metric::counter("apiserver_mutating_admission_policy_check_total",
                      "[ALPHA] Mutation admission policy check total, labeled by policy and further identified by binding.",
                      {"error_type", "policy", "policy_binding"});
  static Metric& durations =
      Metric::histogram("apiserver_mutating_admission_policy_check_duration_seconds",
                        "[ALPHA] Mutation admission latency for individual mutation expressions in seconds, labeled by policy and binding.",
                        {"error_type", "policy", "policy_binding"}, check_bounds());
  total.add({error_type, policy, binding});
  durations.observe({error_type, policy, binding}, seconds);
}

// Upstream counts both types of policies as "validate".
void observe_conditions(std::string_view policy, AdmissionOperation operation, double seconds) {
  static Metric& durations = Metric::histogram(
      "apiserver_admission_match_condition_evaluation_seconds",
      "[ALPHA] Admission match condition evaluation time in seconds, identified by name and broken out for each kind containing "
      "matchConditions (webhook or policy), operation and type (validate or admit).",
      {"kind", "name", "operation", "type"}, {0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25});
  durations.observe({"policy", policy, admission_operation_name(operation), "validate"}, seconds);
}

void count_condition_errors(std::string_view policy, AdmissionOperation operation, std::size_t errors) {
  static Metric& total = Metric::counter(
      "apiserver_admission_match_condition_evaluation_errors_total",
      "[ALPHA] Admission match condition evaluation errors count, identified by name of resource containing the match condition and "
      "broken out for each kind containing matchConditions (webhook or policy), operation and admission type (validate or admit).",
      {"kind", "name", "operation", "type"});
  total.add({"policy", policy, admission_operation_name(operation), "validate"}, static_cast<double>(errors));
}

}  // namespace backplane::admission::policies
