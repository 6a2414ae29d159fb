// Admission plugin Priority, on by default: sets the priority of pods and pod groups by their PriorityClass, and keeps the class with
// globalDefault the only one.
// Source: k8s.io/kubernetes/plugin/pkg/admission/priority.
#pragma once

#include "common/services.hpp"

namespace backplane::admission::pods {

Result<std::shared_ptr<AdmissionPlugin>> make_priority(Services& services, const AdmissionPluginConfig& config);

}  // namespace backplane::admission::pods
