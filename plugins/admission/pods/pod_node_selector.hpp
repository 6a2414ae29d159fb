// Admission plugin PodNodeSelector, off by default: pods get the node selector of their namespace, and only allowed ones.
// Source: k8s.io/kubernetes/plugin/pkg/admission/podnodeselector.
#pragma once

#include "common/services.hpp"

namespace backplane::admission::pods {

Result<std::shared_ptr<AdmissionPlugin>> make_pod_node_selector(Services& services, const AdmissionPluginConfig& config);

}  // namespace backplane::admission::pods
