// Admission plugin MutatingAdmissionPolicy: changes objects by apply configurations and JSON patches, which are the results of expressions.
//
// Source: k8s.io/apiserver/pkg/admission/plugin/policy/mutating.
#pragma once

#include "common/services.hpp"

namespace backplane::admission::policies {

Result<std::shared_ptr<AdmissionPlugin>> make_mutating_policies(Services& services, const AdmissionPluginConfig& config);

}  // namespace backplane::admission::policies
