// A storage backend that uses an etcd cluster. Keys and encodings are those of kube-apiserver, so that both servers can use the same data.
//
// Thread-safety: as StorageBackend.
// Lifetime:      await stop() before destruction.
// Errors:        kServiceUnavailable while no server responds. The store recovers automatically when a server responds again.
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
