// Admission plugin PodTolerationRestriction, off by default: pods get the tolerations of their namespace, and only allowed ones.
// Source: k8s.io/kubernetes/plugin/pkg/admission/podtolerationrestriction.
#pragma once

#include "common/services.hpp"

namespace backplane::admission::pods {

Result<std::shared_ptr<AdmissionPlugin>> make_toleration_restriction(Services& services, const AdmissionPluginConfig& config);

}  // namespace backplane::admission::pods
