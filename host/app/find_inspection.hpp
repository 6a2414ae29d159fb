// Whether a store can tell facts of its files.
//
// Thread-safety: pure function.
// Lifetime:      the result is the store itself.
#pragma once

#include "backplane/points/storage.hpp"
#include "backplane/points/store_inspection.hpp"

namespace backplane {

// Null if the backend cannot.
inline StoreInspection* find_inspection(StorageBackend& store) {
  // An interface beside StorageBackend: most backends do not have it, and its changes are none of theirs.
  return dynamic_cast<StoreInspection*>(&store);
}

}  // namespace backplane
