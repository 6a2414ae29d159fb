// Admission plugin LimitRanger, on by default: applies the LimitRanges of a namespace to its pods and claims.
// Source: k8s.io/kubernetes/plugin/pkg/admission/limitranger.
#pragma once

#include "common/services.hpp"

namespace backplane::admission::pods {

Result<std::shared_ptr<AdmissionPlugin>> make_limit_ranger(Services& services, const AdmissionPluginConfig& config);

}  // namespace backplane::admission::pods
