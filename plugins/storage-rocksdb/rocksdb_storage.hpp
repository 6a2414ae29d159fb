// The embedded backend: a RocksDB database in a directory that one process uses. Concurrent writes are made durable together (group
// commit).
//
// Thread-safety, lifetime, errors: as StorageBackend.  Reads that may access files run on the blocking pool.
#pragma once

#include <memory>

#include "backplane/core/logger.hpp"
#include "backplane/points/storage.hpp"

namespace backplane {

// Opens or creates the store in `config.data_dir`.  Disk errors are logged to `logger` (may be null), which must exist as long as the
// store. Errors: kServiceUnavailable if another process uses the directory; kInternalError if the store is damaged or has another format.
Result<std::unique_ptr<StorageBackend>> open_rocksdb_storage(const StorageBackendConfig& config, Logger* logger = nullptr);

}  // namespace backplane
