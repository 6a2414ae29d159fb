// Admission plugin NamespaceAutoProvision, off by default: creates the namespace of a new object if it does not exist.
// Source: k8s.io/kubernetes/plugin/pkg/admission/namespace/autoprovision.
#pragma once

#include "common/services.hpp"

namespace backplane::admission::objects {

Result<std::shared_ptr<AdmissionPlugin>> make_namespace_auto_provision(Services& services, const AdmissionPluginConfig& config);

}  // namespace backplane::admission::objects
