// Lists that a compaction ends.
//
// Thread-safety: before the hub starts.
#pragma once

#include <atomic>
#include <memory>

#include "watchcache/resource_cache.hpp"

namespace backplane {

// Lists of a revision before `compacted`, and their next pages, are left to the store, which says that they have expired: as upstream,
// where no list outlives the history it was begun in, though the state it shows may lie in the cache for hours.
void end_lists_before(CacheHub& hub, std::shared_ptr<const std::atomic<Revision>> compacted);

}  // namespace backplane
