// The objects of an old revision that the cache no longer has, read from the store on demand, in batches.
//
// Thread-safety: none; one reader at a time.
// Lifetime:      keeps its cache alive; holds one page of the store and one batch of objects.
// Errors:        the store's; those of an object that cannot be read; `gone` if the revision is compacted before all pages have been read.
#pragma once

#include <memory>

#include "backplane/rest/roles.hpp"
#include "watchcache/prefix_cache.hpp"

namespace backplane {

// `first`: the first page, which is the response to `request`; `request` has a limit.
std::unique_ptr<ObjectCursor> make_store_cursor(std::shared_ptr<PrefixCache> cache, Selection selection, RangeRequest request,
                                                RangeResult first, Status gone);

// The error of a list whose client has disconnected (Selection::abandoned).
Status abandoned_list();

}  // namespace backplane
