// An admission plugin that checks whether the writer of a policy or a binding may read the parameters that the object refers to. Upstream's
// strategies of the four kinds make the same check at the end of their validation.
//
// Thread-safety: const; any thread.
// Lifetime:      borrows the Host, which outlives the plugin.
// Source:        authz.go of k8s.io/kubernetes/pkg/registry/admissionregistration/*.
#pragma once

#include <memory>

#include "backplane/host.hpp"
#include "backplane/points/admission.hpp"

namespace backplane::admissionregistration {

// Errors:        validate() returns kInvalid with a cause for spec.paramKind or spec.paramRef.
std::shared_ptr<AdmissionPlugin> make_param_authorization(Host& host);

}  // namespace backplane::admissionregistration
