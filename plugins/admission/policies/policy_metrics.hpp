// Metrics of policies, under upstream's names.
//
// Thread-safety: any thread.
// Errors:        none.
// Source:        metrics.go of policy/validating, policy/mutating and admission/metrics.
#pragma once

#include <cstddef>
#include <string_view>

#include "backplane/points/admission.hpp"

namespace backplane::admission::policies {

// "no_error", "compile_error", "out_of_budget" or "invalid_error", by the start of the message.
std::string_view error_type_of(std::string_view message) noexcept;

// apiserver_validating_admission_policy_check_{total,duration_seconds}; `action`: allow, deny, audit, warn.
void count_validation(std::string_view policy, std::string_view binding, std::string_view error_type, std::string_view action,
                      double seconds);
// apiserver_mutating_admission_policy_check_{total,duration_seconds}.
void count_mutation(std::string_view policy, std::string_view binding, std::string_view error_type, double seconds);
// apiserver_admission_match_condition_evaluation_{seconds,errors_total}.
void observe_conditions(std::string_view policy, AdmissionOperation operation, double seconds);
void count_condition_errors(std::string_view policy, AdmissionOperation operation, std::size_t errors);

}  // namespace backplane::admission::policies
