// Comparisons of caches with the store below them (upstream: DetectCacheInconsistency). A difference is a bug of the cache or of the store;
// it is logged and counted, and the cache is loaded again.
//
// Thread-safety: on the pump's executor.
// Lifetime:      ends with the hub.
// Errors:        errors of the store are counted, and end the comparison.
#pragma once

#include <memory>

#include "backplane/core/task.hpp"

namespace backplane {

class PrefixCache;

// Compares the keys of the cache and their modification revisions with those of the store, both at the revision that the cache has.
Task<void> compare_with_store(std::shared_ptr<PrefixCache> cache);

}  // namespace backplane
