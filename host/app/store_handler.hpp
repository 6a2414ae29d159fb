// The paths by which `backplane store copy` reads the embedded store of a running server: pages of stored keys and values, and a hold,
// during which the server refuses writes.
//
//   POST /debug/store/range    {"start", "end", "revision", "limit", "keysOnly"} → {"revision", "more", "items": [{"key", "value",
//   "revision", "lease"}]} POST /debug/store/hold     {"text", "seconds"} → {}: a hold for so long, or for good (0) POST
//   /debug/store/release  {} → {}
// Values are base64.  For users of the group system:masters alone, whatever the authorizers say: Secrets are among them.
//
// Thread-safety: any thread.
// Lifetime:      borrows the store.
// Errors:        403 for others; 400 for a body that is none; those of the store, as a metav1.Status.
#pragma once

#include <vector>

#include "backplane/host.hpp"
#include "backplane/points/paths.hpp"
#include "backplane/points/storage.hpp"

namespace backplane {

std::vector<PathRoute> store_routes(StorageBackend& store);

}  // namespace backplane
