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
// Refuses to enlarge a claim unless the claim is bound and its class allows expansion.
Result<std::shared_ptr<AdmissionPlugin>> make_claim_resize(Services& services, const AdmissionPluginConfig& config);

}  // namespace backplane::admission::storage
