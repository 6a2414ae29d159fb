// Admission plugin PodResizeValidator, on by default: refuses a resize that the pod's node cannot satisfy.
// Source: k8s.io/kubernetes/plugin/pkg/admission/podresize.
#pragma once

#include "common/services.hpp"

namespace backplane::admission::pods {

Result<std::shared_ptr<AdmissionPlugin>> make_pod_resize_validator(Services& services, const AdmissionPluginConfig& config);

}  // namespace backplane::admission::pods
