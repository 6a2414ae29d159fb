// The controller of ValidatingAdmissionPolicies.
//
// Thread-safety: the plugin's executor.
// Lifetime:      a controller runs until the term ends (frame/term.hpp).
// Errors:        none.
#pragma once

#include "frame/context.hpp"

namespace backplane::controllers {

// Writes status.observedGeneration and status.typeChecking. Source: k8s.io/kubernetes/pkg/controller/validatingadmissionpolicystatus.
Status start_policy_status(const Context& context);

}  // namespace backplane::controllers
