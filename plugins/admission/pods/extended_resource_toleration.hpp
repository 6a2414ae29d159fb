// Admission plugin ExtendedResourceToleration, off by default: pods tolerate the taints of the extended resources that they request.
// Source: k8s.io/kubernetes/plugin/pkg/admission/extendedresourcetoleration.
#pragma once

#include "common/services.hpp"

namespace backplane::admission::pods {

Result<std::shared_ptr<AdmissionPlugin>> make_extended_resource_toleration(Services& services, const AdmissionPluginConfig& config);

}  // namespace backplane::admission::pods
