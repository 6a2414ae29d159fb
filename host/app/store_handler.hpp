// The paths with which the commands of `backplane store` access the store of a running server: pages of stored keys and values, a hold
// (during which the server refuses writes), facts about the store's files, and a check of the files in parts.
//
//   POST /debug/store/range    {"start", "end", "revision", "limit", "keysOnly"} → {"revision", "more", "items": [{"key", "value",
//                              "revision", "lease"}]}
//   POST /debug/store/hold     {"text", "seconds"} → {}: a hold for that time, or without limit (0)
//   POST /debug/store/release  {} → {}
//   POST /debug/store/facts    {} → {"revision", …}: StoreFacts
//   POST /debug/store/check    {"from"} → {"next", "bytes", "rows", "damage": [{"file", "offset", "what"}]}: a part of the check
// Values, "from" and "next" are base64.  For the group system:masters only, regardless of the authorizers: the values include Secrets.
//
// Thread-safety: any thread.
// Lifetime:      borrows the store.
// Errors:        403 for users outside that group; 405 for methods other than POST; 400 for an invalid body; errors of the store, as a
//                metav1.Status.
#pragma once

#include <vector>

#include "backplane/host.hpp"
#include "backplane/points/paths.hpp"
#include "backplane/points/storage.hpp"

namespace backplane {

std::vector<PathRoute> store_routes(StorageBackend& store);

}  // namespace backplane
