// Admission plugin AlwaysPullImages, off by default: images of pods are always pulled.
// Source: k8s.io/kubernetes/plugin/pkg/admission/alwayspullimages.
#pragma once

#include "common/services.hpp"

namespace backplane::admission::pods {

Result<std::shared_ptr<AdmissionPlugin>> make_always_pull_images(Services& services, const AdmissionPluginConfig& config);

}  // namespace backplane::admission::pods
