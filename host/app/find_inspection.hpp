// Finds the optional interface StoreInspection of a storage backend.
//
// Thread-safety: pure function.
// Lifetime:      the result is the store itself.
#pragma once

#include "backplane/points/storage.hpp"
#include "backplane/points/store_inspection.hpp"

namespace backplane {

// Null if the backend does not implement StoreInspection.
inline StoreInspection* find_inspection(StorageBackend& store) {
  // StoreInspection is not part of StorageBackend: most backends do not implement it, and its changes do not affect them.
  return dynamic_cast<StoreInspection*>(&store);
}

}  // namespace backplane
