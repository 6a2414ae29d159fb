// What a store offers beside StorageBackend whose objects are kept in another form than they are worked with: pages as they are stored, to
// be read on another thread while the next one is on its way, and events without what their readers know already.
//
// Thread-safety: every method from any thread.
// Lifetime:      the store's own.
// Errors:        as range() and watch() of the store.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backplane/points/storage.hpp"

namespace backplane {

class StoredPages {
 public:
  virtual ~StoredPages();
  // range(), without what read() does.
  virtual Task<Result<RangeResult>> stored_range(RangeRequest request) = 0;
  virtual void read(std::vector<KeyValue>& items) const = 0;
  // watch() for who keeps the newest state: StorageEvent::previous is empty; previous_revision is as ever.
  virtual Result<std::unique_ptr<StorageWatch>> watch_changes(std::string prefix, Revision after) = 0;
};

}  // namespace backplane
