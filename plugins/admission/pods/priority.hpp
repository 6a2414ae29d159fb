// Admission plugin Priority, on by default. It sets the priority of pods and pod groups by their PriorityClass, and refuses a second class
// with globalDefault.
// Source: k8s.io/kubernetes/plugin/pkg/admission/priority.
#pragma once

#include "common/services.hpp"

namespace backplane::admission::pods {

Result<std::shared_ptr<AdmissionPlugin>> make_priority(Services& services, const AdmissionPluginConfig& config);

}  // namespace backplane::admission::pods
