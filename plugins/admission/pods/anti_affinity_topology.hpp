// Admission plugin LimitPodHardAntiAffinityTopology, off by default: the topology key of required anti-affinity must be the hostname.
// Source: k8s.io/kubernetes/plugin/pkg/admission/antiaffinity.
#pragma once

#include "common/services.hpp"

namespace backplane::admission::pods {

Result<std::shared_ptr<AdmissionPlugin>> make_anti_affinity_topology(Services& services, const AdmissionPluginConfig& config);

}  // namespace backplane::admission::pods
