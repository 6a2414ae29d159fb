// Admission plugin ImagePolicyWebhook, off by default: calls a webhook that decides whether a pod may use its images.
// Source: k8s.io/kubernetes/plugin/pkg/admission/imagepolicy.
#pragma once

#include "common/services.hpp"

namespace backplane::admission::pods {

Result<std::shared_ptr<AdmissionPlugin>> make_image_policy(Services& services, const AdmissionPluginConfig& config);

}  // namespace backplane::admission::pods
