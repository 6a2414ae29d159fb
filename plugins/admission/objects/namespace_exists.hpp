// Admission plugin NamespaceExists, off by default: refuses writes in a namespace that does not exist.
// Source: k8s.io/kubernetes/plugin/pkg/admission/namespace/exists.
#pragma once

#include "common/services.hpp"

namespace backplane::admission::objects {

Result<std::shared_ptr<AdmissionPlugin>> make_namespace_exists(Services& services, const AdmissionPluginConfig& config);

}  // namespace backplane::admission::objects
