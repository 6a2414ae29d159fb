// Admission plugin DefaultTolerationSeconds, on by default: lets pods stay on a node that is not ready or unreachable for the time of
// --default-not-ready-toleration-seconds and --default-unreachable-toleration-seconds.
// Source: k8s.io/kubernetes/plugin/pkg/admission/defaulttolerationseconds.
#pragma once

#include "common/services.hpp"

namespace backplane::admission::pods {

Result<std::shared_ptr<AdmissionPlugin>> make_default_toleration_seconds(Services& services, const AdmissionPluginConfig& config);

}  // namespace backplane::admission::pods
