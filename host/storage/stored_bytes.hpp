// What a store offers beside StorageBackend whose objects are kept in another form than they are worked with: whether what is stored is
// what a write would store.  Bytes of another version or encoding are not, though they are read as the same object.
//
// Thread-safety: every method from any thread.
// Lifetime:      the store's own.
// Errors:        as range() of the store.
#pragma once

#include "backplane/points/storage.hpp"

namespace backplane {

class StoredBytes {
 public:
  virtual ~StoredBytes();
  struct Compared {
    RangeResult result;      // as range() gives it
    bool same_bytes = true;  // a write of `worked` would change nothing
  };
  // range() of the one key, and what a write of `worked` under it would do.
  virtual Task<Result<Compared>> compare(std::string key, SharedBytes worked) = 0;
};

}  // namespace backplane
