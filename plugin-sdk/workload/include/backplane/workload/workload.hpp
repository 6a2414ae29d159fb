// The common rules of kinds with a selector and a pod template.
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

// True if a metav1.LabelSelector matches the labels; nullopt if the selector is invalid.
std::optional<bool> selector_matches(const Object& selector, const Object* labels);
bool is_empty_selector(const Object& selector);
// True if all operators, keys and values of the selector are valid.
bool is_valid_selector(const Object& selector, const std::string& path);

// Checks spec.selector: it exists if `required`, is not empty ("empty selector is invalid for deployment"), and is valid.
void validate_workload_selector(const Object& spec, std::string_view kind, bool required, FieldErrors& errors);
// Checks spec.template: the selector matches its labels, and the template is valid.
void validate_workload_template(const Object& spec, const PodValidationOptions& options, FieldErrors& errors);
// Removes the errors inside spec.template: upstream does not validate the template if the selector is invalid.
void drop_below_template(FieldErrors& errors);
// Checks that the restart policy is "Always" and that there is no deadline. `kind` completes the error about a deadline.
void validate_always_restarts(const Object& spec, std::string_view kind, FieldErrors& errors);

}  // namespace backplane::workload
