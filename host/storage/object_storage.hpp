// A store of objects, as caches and the generic store use it: keys and canonical JSON. Objects may be stored in another encoding: this
// class stores them unchanged, EncodedStorage encodes them.
//
// Thread-safety: every method from any thread.
// Lifetime:      borrows the backend.
// Errors:        as range() and watch() of the backend.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "storage/forwarding_storage.hpp"

namespace backplane {

class ObjectStorage : public ForwardingStorage {
 public:
  using ForwardingStorage::ForwardingStorage;

  // ---- pages as they are stored, to be decoded on another thread while the store sends the next one
  // range() without decoding.
  virtual Task<Result<RangeResult>> stored_range(RangeRequest request) { return range(std::move(request)); }
  // Decodes items from `from` on, without waiting: may run on a blocking thread.  Returns the index of the first item that read() must
  // decode, or the number of items.
  virtual std::size_t read_now(std::vector<KeyValue>& items, std::size_t) const { return items.size(); }
  // Decodes one item; waits for its transformer.
  virtual Task<void> read(KeyValue&) const { co_return; }
  // Decodes items[from] and some of the following items, which wait at the same time. Returns the index of the first item that it has not
  // decoded. The caller runs on an executor.
  virtual Task<std::size_t> read_some(std::vector<KeyValue>& items, std::size_t from) const;

  // The backend's key (backend_key.hpp), for logs and errors.
  virtual std::string backend_key(std::string_view key) const { return std::string(key); }

  // watch() for a caller that has the newest state: StorageEvent::previous is empty, previous_revision is set.
  virtual Result<std::unique_ptr<StorageWatch>> watch_changes(std::string prefix, Revision after) {
    return watch(std::move(prefix), after);
  }

  struct Compared {
    RangeResult result;      // as range() returns it
    bool same_bytes = true;  // writing `worked` would not change the stored bytes
  };
  // range() of one key, and whether a write of `worked`, canonical JSON that equals the object, would change the stored bytes: another
  // version, another encoding, another encryption key.
  virtual Task<Result<Compared>> compare(std::string key, SharedBytes worked);
};

}  // namespace backplane
