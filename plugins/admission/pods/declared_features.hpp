// Admission plugin NodeDeclaredFeatureValidator, on by default: refuses an update of a pod that needs a feature which its node does not
// declare.
// Source: k8s.io/kubernetes/plugin/pkg/admission/nodedeclaredfeatures.
#pragma once

#include "common/services.hpp"

namespace backplane::admission::pods {

Result<std::shared_ptr<AdmissionPlugin>> make_declared_features(Services& services, const AdmissionPluginConfig& config);

}  // namespace backplane::admission::pods
