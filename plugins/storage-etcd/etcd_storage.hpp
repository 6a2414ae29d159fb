// An etcd cluster as the store: with kube-apiserver's keys and encodings, so that either server can use the other's data.
//
// Thread-safety: as StorageBackend.
// Lifetime:      stop() before destruction.
// Errors:        kServiceUnavailable while no server responds; it never ends the process and recovers automatically.
#pragma once

#include <memory>

#include "backplane/core/logger.hpp"
#include "backplane/points/storage.hpp"
#include "settings.hpp"

namespace backplane {

// `logger` may be null.  Errors: kBadRequest for TLS files that cannot be used.
Result<std::unique_ptr<StorageBackend>> open_etcd_storage(etcd::Settings settings, const StoreConnections& connections,
                                                          Logger* logger = nullptr);

}  // namespace backplane
