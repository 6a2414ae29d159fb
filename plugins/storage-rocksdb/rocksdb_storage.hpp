// The embedded backend: one directory, one process, durable with group commit.
//
// Thread-safety, lifetime, errors: as StorageBackend.  Reads of many keys run on the blocking pool.
#pragma once

#include <memory>

#include "backplane/core/logger.hpp"
#include "backplane/points/storage.hpp"

namespace backplane {

// Opens or creates the store in `config.data_dir`.  Disk errors are logged to `logger`, which outlives the store.
// Errors: kServiceUnavailable when another process uses the directory; kInternalError when it is damaged or of another format.
Result<std::unique_ptr<StorageBackend>> open_rocksdb_storage(const StorageBackendConfig& config, Logger* logger = nullptr);

}  // namespace backplane
