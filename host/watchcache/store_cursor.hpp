// The objects of an old revision, which only the store still has: read on demand, in batches.
//
// Thread-safety: none; one reader at a time.
// Lifetime:      keeps its cache alive; holds one page of the store's and one batch of objects.
// Errors:        the store's; those of an object that cannot be read; `gone` when the revision is compacted away while it is read.
#pragma once

#include <memory>

#include "backplane/rest/roles.hpp"
#include "watchcache/prefix_cache.hpp"

namespace backplane {

// `first` is the answer to `request`, which has a limit: the page it begins with.
std::unique_ptr<ObjectCursor> make_store_cursor(std::shared_ptr<PrefixCache> cache, Selection selection, RangeRequest request,
                                                RangeResult first, Status gone);

// The error of a list whose client has gone (Selection::abandoned).
Status abandoned_list();

}  // namespace backplane
