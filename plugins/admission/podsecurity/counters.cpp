#include "podsecurity/counters.hpp"

#include "backplane/core/metrics.hpp"

namespace backplane::admission::podsecurity {
namespace {

// The server's version is 1.36. All newer policy versions share one label value, so that clients cannot create series.
constexpr std::int64_t kServerMinor = 36;

Metric& evaluations() {
  static Metric& counter = Metric::counter(
      "pod_security_evaluations_total", "[ALPHA] Number of policy evaluations that occurred, not counting ignored or exempt requests.",
      {"decision", "policy_level", "policy_version", "mode", "request_operation", "resource", "subresource"});
  return counter;
}

Metric& exemptions() {
  static Metric& counter =
      Metric::counter("pod_security_exemptions_total", "[ALPHA] Number of exempt requests, not counting ignored or out of scope requests.",
                      {"request_operation", "resource", "subresource"});
  return counter;
}

Metric& errors_counter() {
  static Metric& counter =
      Metric::counter("pod_security_errors_total",
                      "[ALPHA] Number of errors preventing normal evaluation. Non-fatal errors may result in the latest restricted profile "
                      "being used for evaluation.",
                      {"fatal", "request_operation", "resource", "subresource"});
  return counter;
}

std::string_view operation_label(const AdmissionAttributes& attributes) {
  return attributes.operation == AdmissionOperation::kCreate ? "create" : "update";
}

std::string_view resource_label(const AdmissionAttributes& attributes) {
  if (!attributes.resource.group.empty()) return "controller";
  if (attributes.resource.resource == "pods") return "pod";
  return attributes.resource.resource == "namespaces" ? "namespace" : "controller";
}

std::string version_label(const LevelVersion& policy) {
  if (policy.level == Level::kPrivileged || policy.version.minor == PolicyVersion::kLatest) return "latest";
  return policy.version.minor > kServerMinor ? "future" : policy.version.text();
}

}  // namespace

void create_counters() {
  for (const std::string_view operation : {"create", "update"}) {
    evaluations().add({"allow", "privileged", "latest", "enforce", operation, "pod", ""}, 0);
    for (const std::string_view resource : {"pod", "controller"}) exemptions().add({operation, resource, ""}, 0);
  }
}

void count_evaluation(bool allowed, const LevelVersion& policy, std::string_view mode, const AdmissionAttributes& attributes) {
  evaluations().add({allowed ? "allow" : "deny", level_name(policy.level), version_label(policy), mode, operation_label(attributes),
                     resource_label(attributes), attributes.subresource});
}

void count_exemption(const AdmissionAttributes& attributes) {
  exemptions().add({operation_label(attributes), resource_label(attributes), attributes.subresource});
}

void count_error(bool fatal, const AdmissionAttributes& attributes) {
  errors_counter().add({fatal ? "true" : "false", operation_label(attributes), resource_label(attributes), attributes.subresource});
}

}  // namespace backplane::admission::podsecurity
