// Admission plugins AlwaysAdmit and AlwaysDeny, deprecated and off by default.
// Source: k8s.io/kubernetes/plugin/pkg/admission/{admit,deny}.
#pragma once

#include "common/services.hpp"

namespace backplane::admission {

Result<std::shared_ptr<AdmissionPlugin>> make_always_admit(Services& services, const AdmissionPluginConfig& config);
Result<std::shared_ptr<AdmissionPlugin>> make_always_deny(Services& services, const AdmissionPluginConfig& config);

}  // namespace backplane::admission
