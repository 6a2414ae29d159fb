// Admission plugin ValidatingAdmissionPolicy: refuses writes, warns about them and annotates them, by the expressions of policies.
//
// Source: k8s.io/apiserver/pkg/admission/plugin/policy/validating.
#pragma once

#include "common/services.hpp"

namespace backplane::admission::policies {

Result<std::shared_ptr<AdmissionPlugin>> make_validating_policies(Services& services, const AdmissionPluginConfig& config);

}  // namespace backplane::admission::policies
