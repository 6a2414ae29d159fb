// Admission plugin PodTopologyLabels, on by default: copies the zone and region of the node to a pod that is bound to it.
// Source: k8s.io/kubernetes/plugin/pkg/admission/podtopologylabels.
#pragma once

#include "common/services.hpp"

namespace backplane::admission::pods {

Result<std::shared_ptr<AdmissionPlugin>> make_pod_topology_labels(Services& services, const AdmissionPluginConfig& config);

}  // namespace backplane::admission::pods
