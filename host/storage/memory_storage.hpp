// The memory backend (`--storage-backend=memory`), for tests and temporary servers.  Its content is lost when the process ends.
//
// Thread-safety, lifetime, errors: as StorageBackend.
#pragma once

#include <memory>

#include "backplane/points/storage.hpp"

namespace backplane {

// `stored_form`: the name of the codec in which built-in kinds are stored; empty: JSON.
std::unique_ptr<StorageBackend> make_memory_storage(std::string stored_form = {});

}  // namespace backplane
