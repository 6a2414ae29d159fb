// kube-apiserver's metrics of admission webhooks, and those of the circuit breakers.
//
// Thread-safety: any thread.
// Source:        k8s.io/apiserver/pkg/admission/metrics.
#pragma once

#include <chrono>
#include <string_view>

#include "backplane/points/admission.hpp"

namespace backplane::admission::webhooks {

enum class HookType : unsigned char { kMutating, kValidating };
// The label `type` ("admit", "validating") of calls, and of the errors and times of match conditions.
std::string_view call_label(HookType type) noexcept;

// The labels of a counted call.
struct HookLabels {
  std::string_view name;
  HookType type;
  AdmissionOperation operation;
};

void count_call(const HookLabels& labels, std::chrono::nanoseconds took, bool rejected, int code);
// `error_type`: "calling_webhook_error", "apiserver_internal_error" or "no_error".
void count_rejection(const HookLabels& labels, std::string_view error_type, int code);
void count_fail_open(const HookLabels& labels);
void count_conditions(const HookLabels& labels, std::chrono::nanoseconds took, int errors, bool excluded);
// Records whether the breaker of a webhook is open, and counts a call that it refused.
void set_circuit_open(std::string_view name, HookType type, bool open);
void count_circuit_refusal(const HookLabels& labels);

}  // namespace backplane::admission::webhooks
