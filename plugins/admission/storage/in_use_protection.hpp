// The admission plugin StorageObjectInUseProtection: new volumes, claims and attribute classes get a finalizer, which controllers remove
// when the object is not in use.
//
// Thread-safety: any thread.
// Source:        kubernetes plugin/pkg/admission/storage/storageobjectinuseprotection.
#pragma once

#include "common/services.hpp"

namespace backplane::admission::storage {

Result<std::shared_ptr<AdmissionPlugin>> make_in_use_protection(Services& services, const AdmissionPluginConfig& config);

}  // namespace backplane::admission::storage
