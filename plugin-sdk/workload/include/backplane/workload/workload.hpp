// What kinds with a selector and a pod template have in common.
//
// Thread-safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"
#include "backplane/workload/pod_validation.hpp"

namespace backplane::workload {

// A metav1.LabelSelector against labels; nothing when the selector cannot be read.
std::optional<bool> selector_matches(const Object& selector, const Object* labels);
bool is_empty_selector(const Object& selector);
// True for operators and labels that a selector may have.
bool is_valid_selector(const Object& selector, const std::string& path);

// spec.selector's own rules: `required`, not empty ("empty selector is invalid for deployment"), well formed.
void validate_workload_selector(const Object& spec, std::string_view kind, bool required, FieldErrors& errors);
// spec.template: labels that the selector matches, and the template's own rules.
void validate_workload_template(const Object& spec, const PodValidationOptions& options, FieldErrors& errors);
// Removes the errors of the template: upstream does not validate it if the selector is invalid.
void drop_below_template(FieldErrors& errors);
// Only "Always" keeps the pods of a workload running.  `kind`: the one that has no deadlines.
void validate_always_restarts(const Object& spec, std::string_view kind, FieldErrors& errors);

}  // namespace backplane::workload
