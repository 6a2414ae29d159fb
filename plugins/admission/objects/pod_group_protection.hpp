// Admission plugin PodGroupProtection, on by default. With the gate GenericWorkload, it adds a finalizer to a new PodGroup, so that the
// group is not removed while pods belong to it.
// Source: k8s.io/kubernetes/plugin/pkg/admission/scheduling/podgroupprotection.
#pragma once

#include "common/services.hpp"

namespace backplane::admission::objects {

Result<std::shared_ptr<AdmissionPlugin>> make_pod_group_protection(Services& services, const AdmissionPluginConfig& config);

}  // namespace backplane::admission::objects
