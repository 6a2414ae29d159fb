// The memory backend: `--storage-backend=memory`, for tests and throw-away servers.  Nothing survives the process.
//
// Thread-safety, lifetime, errors: as StorageBackend.
#pragma once

#include <memory>

#include "backplane/storage.hpp"

namespace backplane {

std::unique_ptr<StorageBackend> make_memory_storage();

}  // namespace backplane
