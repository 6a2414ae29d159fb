// Admission plugin RuntimeClass, on by default: sets the overhead, the node selector and the tolerations of a pod by its RuntimeClass.
// Source: k8s.io/kubernetes/plugin/pkg/admission/runtimeclass.
#pragma once

#include "common/services.hpp"

namespace backplane::admission::pods {

Result<std::shared_ptr<AdmissionPlugin>> make_runtime_class(Services& services, const AdmissionPluginConfig& config);

}  // namespace backplane::admission::pods
