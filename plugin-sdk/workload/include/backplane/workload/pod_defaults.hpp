// Defaults of pods and pod templates that a schema cannot express (pkg/apis/core/v1/defaults.go).
//
// Thread-safety: pure functions on a tree that the caller owns.
#pragma once

#include "backplane/core/json.hpp"

namespace backplane::workload {

// Sets the defaults that pod specs have in pods and in templates.
void apply_pod_spec_defaults(Object& pod_spec);
// Sets the defaults of template.spec. Creates template.spec if it is missing.
void apply_pod_template_defaults(Object& pod_template);
// Sets the defaults that only pods have: requests from limits, host ports, service links, a grace period that is not negative. Call it
// after apply_pod_spec_defaults().
void apply_pod_only_defaults(Object& pod);
// Make the last change before encoding, to a pod spec, or to an object of a kind with spec.template.
void canonicalize_pod_spec(Object& pod_spec);
void canonicalize_template(Object& object);

}  // namespace backplane::workload
