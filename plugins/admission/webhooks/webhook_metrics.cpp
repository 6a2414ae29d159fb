#include "webhooks/webhook_metrics.hpp"

#include <algorithm>
#include <string>

#include "backplane/core/metrics.hpp"

namespace backplane::admission::webhooks {
namespace {

constexpr int kHighestCode = 600;  // bounds the number of series

struct HookMetrics {
  Metric& durations = Metric::histogram(
      "apiserver_admission_webhook_admission_duration_seconds",
      "[STABLE] Admission webhook latency histogram in seconds, identified by name and broken out for each operation and API resource and "
      "type (validate or admit).",
      {"name", "operation", "rejected", "type"}, {0.005, 0.025, 0.1, 0.5, 1.0, 2.5, 10, 25});
  Metric& requests = Metric::counter("apiserver_admission_webhook_request_total",
                                     "[ALPHA] Calls of admission webhooks by name, type, operation, HTTP status code (at most 600) and "
                                     "whether the request was rejected.",
                                     {"code", "name", "operation", "rejected", "type"});
  Metric& rejections = Metric::counter("apiserver_admission_webhook_rejection_count",
                                       "[ALPHA] Rejections by admission webhooks by name, type, operation, kind of error and rejection "
                                       "code (at most 600).",
                                       {"error_type", "name", "operation", "rejection_code", "type"});
  Metric& fail_open =
      Metric::counter("apiserver_admission_webhook_fail_open_count",
                      "[ALPHA] Failed calls of admission webhooks that did not refuse the request, by name and type.", {"name", "type"});
  Metric& condition_errors =
      Metric::counter("apiserver_admission_match_condition_evaluation_errors_total",
                      "[ALPHA] Match conditions that could not be evaluated, by webhook or policy.", {"kind", "name", "operation", "type"});
  Metric& condition_exclusions =
      Metric::counter("apiserver_admission_match_condition_exclusions_total",
                      "[ALPHA] Requests that match conditions excluded, by webhook or policy.", {"kind", "name", "operation", "type"});
  Metric& condition_seconds = Metric::histogram("apiserver_admission_match_condition_evaluation_seconds",
                                                "[ALPHA] Time to evaluate match conditions in seconds, by webhook or policy.",
                                                {"kind", "name", "operation", "type"}, {0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25});
  Metric& circuit_open = Metric::gauge("backplane_admission_webhook_circuit_open",
                                       "1 while the circuit breaker of an admission webhook is open.", {"name", "type"});
  Metric& circuit_refusals = Metric::counter("backplane_admission_webhook_circuit_refusals_total",
                                             "Calls of admission webhooks that an open circuit breaker failed.", {"name", "type"});
};

HookMetrics& hook_metrics() {
  static HookMetrics all;
  return all;
}

double in_seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }
std::string_view truth(bool value) { return value ? "true" : "false"; }

// The label `type` of exclusions, for which upstream has other values than call_label().
std::string_view exclusion_label(HookType type) noexcept { return type == HookType::kMutating ? "admit" : "validate"; }

}  // namespace

std::string_view call_label(HookType type) noexcept { return type == HookType::kMutating ? "admit" : "validating"; }

void count_call(const HookLabels& labels, std::chrono::nanoseconds took, bool rejected, int code) {
  const std::string shown = std::to_string(std::min(code, kHighestCode));
  const std::string_view operation = admission_operation_name(labels.operation), type = call_label(labels.type);
  hook_metrics().requests.add({shown, labels.name, operation, truth(rejected), type});
  hook_metrics().durations.observe({labels.name, operation, truth(rejected), type}, in_seconds(took));
}

void count_rejection(const HookLabels& labels, std::string_view error_type, int code) {
  const std::string shown = std::to_string(std::min(code, kHighestCode));
  hook_metrics().rejections.add({error_type, labels.name, admission_operation_name(labels.operation), shown, call_label(labels.type)});
}

void count_fail_open(const HookLabels& labels) { hook_metrics().fail_open.add({labels.name, call_label(labels.type)}); }

void count_conditions(const HookLabels& labels, std::chrono::nanoseconds took, int errors, bool excluded) {
  const std::string_view operation = admission_operation_name(labels.operation), type = call_label(labels.type);
  // As upstream, conditions that are all true are not timed.
  if (errors > 0 || excluded) hook_metrics().condition_seconds.observe({"webhook", labels.name, operation, type}, in_seconds(took));
  if (errors > 0) hook_metrics().condition_errors.add({"webhook", labels.name, operation, type}, errors);
  if (excluded) hook_metrics().condition_exclusions.add({"webhook", labels.name, operation, exclusion_label(labels.type)});
}

void set_circuit_open(std::string_view name, HookType type, bool open) {
  hook_metrics().circuit_open.set({name, call_label(type)}, open ? 1 : 0);
}

void count_circuit_refusal(const HookLabels& labels) { hook_metrics().circuit_refusals.add({labels.name, call_label(labels.type)}); }

}  // namespace backplane::admission::webhooks
