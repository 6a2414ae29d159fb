// Admission plugin LimitPodHardAntiAffinityTopology, off by default: required anti-affinity may only be about single nodes.
// Source: k8s.io/kubernetes/plugin/pkg/admission/antiaffinity.
#pragma once

#include "common/services.hpp"

namespace backplane::admission::pods {

Result<std::shared_ptr<AdmissionPlugin>> make_anti_affinity_topology(Services& services, const AdmissionPluginConfig& config);

}  // namespace backplane::admission::pods
