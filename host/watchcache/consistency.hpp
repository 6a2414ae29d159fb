// Comparisons of caches with the store below them (upstream: DetectCacheInconsistency).  A cache that does not show what the store holds is
// a bug, of ours or of the store's; it is logged, counted, and the cache is read again.
//
// Thread-safety: on the pump's executor.
// Lifetime:      ends with the hub.
// Errors:        those of the store are counted.
#pragma once

#include <memory>

#include "backplane/core/task.hpp"

namespace backplane {

class PrefixCache;

// Compares keys, and the revisions at which they were written last, as they were at the revision that the cache shows.
Task<void> compare_with_store(std::shared_ptr<PrefixCache> cache);

}  // namespace backplane
