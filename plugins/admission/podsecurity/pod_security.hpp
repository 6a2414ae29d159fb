// The admission plugin PodSecurity: the pod security standards, by the labels of namespaces.
//
// Enforce refuses pods; audit and warn also apply to objects with pod templates.
// Thread-safety: any thread.
// Lifetime:      `services` outlive the plugin.
// Errors:        a configuration that cannot be used.
// Source:        kubernetes plugin/pkg/admission/security/podsecurity; k8s.io/pod-security-admission.
#pragma once

#include "common/services.hpp"

namespace backplane::admission::podsecurity {

Result<std::shared_ptr<AdmissionPlugin>> make_pod_security(Services& services, const AdmissionPluginConfig& config);

}  // namespace backplane::admission::podsecurity
