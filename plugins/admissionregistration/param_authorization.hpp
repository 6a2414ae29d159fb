// Whether the writer of a policy or binding may read the parameters that it refers to: upstream's strategies of the four kinds validate
// this last.
//
// Thread-safety: const; any thread.
// Lifetime:      needs the Host.
// Source:        authz.go of k8s.io/kubernetes/pkg/registry/admissionregistration/*.
#pragma once

#include <memory>

#include "backplane/host.hpp"
#include "backplane/points/admission.hpp"

namespace backplane::admissionregistration {

// Errors of the plugin: kInvalid, with a cause for spec.paramKind or spec.paramRef.
std::shared_ptr<AdmissionPlugin> make_param_authorization(Host& host);

}  // namespace backplane::admissionregistration
