// Admission plugin PodGroupWorkloadExists, on by default. With the gate GenericWorkload, a new PodGroup may only name a Workload that
// exists, and a template of that Workload.
// Source: k8s.io/kubernetes/plugin/pkg/admission/podgroup.
#pragma once

#include "common/services.hpp"

namespace backplane::admission::objects {

Result<std::shared_ptr<AdmissionPlugin>> make_pod_group_workload_exists(Services& services, const AdmissionPluginConfig& config);

}  // namespace backplane::admission::objects
