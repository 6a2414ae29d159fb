// Defaults of pods and pod templates that a schema cannot express (pkg/apis/core/v1/defaults.go).
//
// Thread-safety: pure functions on a tree of the caller's.
#pragma once

#include "backplane/core/json.hpp"

namespace backplane::workload {

// The defaults of every pod spec, of pods and of templates.
void apply_pod_spec_defaults(Object& pod_spec);
// template.spec, which is created if it is missing.
void apply_pod_template_defaults(Object& pod_template);
// The defaults of pods only, to apply after apply_pod_spec_defaults(): requests from limits, host ports, service links, a grace period that
// is not negative.
void apply_pod_only_defaults(Object& pod);
// The last change before encoding, for a pod spec and for a kind with spec.template.
void canonicalize_pod_spec(Object& pod_spec);
void canonicalize_template(Object& object);

}  // namespace backplane::workload
