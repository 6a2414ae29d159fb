// A store whose revision can be raised at once: what a store is made of that takes the place of another one, whose clients go on from
// revisions they have seen there.  A StorageBackend that can do it is this, too (dynamic_cast); others are written to until they are there.
//
// Thread-safety: any thread.
// Lifetime:      the store's own.
// Errors:        those of a write.
#pragma once

#include "backplane/storage.hpp"
#include "backplane/visibility.hpp"

namespace backplane BACKPLANE_API {

class RaisableRevision {
 public:
  virtual ~RaisableRevision();
  // The next commit has a revision above `revision`; it is durable before the task ends.  Nothing to do for a store that is past it.
  virtual Task<Status> raise_revision(Revision revision) = 0;
};

}  // namespace BACKPLANE_API
