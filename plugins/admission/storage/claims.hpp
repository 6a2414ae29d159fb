// The admission plugins DefaultStorageClass and PersistentVolumeClaimResize.
//
// Thread-safety: any thread.
// Lifetime:      `services` outlive the plugins.
// Source:        kubernetes plugin/pkg/admission/storage (storageclass/setdefault, persistentvolume/resize).
#pragma once

#include "common/services.hpp"

namespace backplane::admission::storage {

// New claims without a class get the default class.
Result<std::shared_ptr<AdmissionPlugin>> make_default_storage_class(Services& services, const AdmissionPluginConfig& config);
// Only bound claims of a class that allows it grow.
Result<std::shared_ptr<AdmissionPlugin>> make_claim_resize(Services& services, const AdmissionPluginConfig& config);

}  // namespace backplane::admission::storage
