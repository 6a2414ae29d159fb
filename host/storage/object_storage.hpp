// The interface through which caches and the generic store use a backend: values are objects in canonical JSON. This class stores the JSON
// unchanged; its derived class EncodedStorage encodes it.
//
// Thread-safety: every method from any thread.
// Lifetime:      borrows the backend.
// Errors:        the backend's.
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

  // ---- reading in two steps, so that another thread can decode a page while the store sends the next page
  // As range(), but does not decode the values.
  virtual Task<Result<RangeResult>> stored_range(RangeRequest request) { return range(std::move(request)); }
  // Decodes items from index `from` on, until decoding an item must wait (for a key service).  Returns the index of that item, which read()
  // must decode, or the number of items. May be called on a blocking thread.
  virtual std::size_t read_now(std::vector<KeyValue>& items, std::size_t) const { return items.size(); }
  // Decodes one item, and waits for its transformer if necessary.
  virtual Task<void> read(KeyValue&) const { co_return; }
  // Decodes items[from] and some of the following items concurrently. Returns the index of the first item that has not been decoded. The
  // caller runs on an executor.
  virtual Task<std::size_t> read_some(std::vector<KeyValue>& items, std::size_t from) const;

  // The key that the backend stores (backend_key.hpp), for logs and errors.
  virtual std::string backend_key(std::string_view key) const { return std::string(key); }

  // As watch(), for a caller that has the previous values itself: StorageEvent::previous is empty, previous_revision is set.
  virtual Result<std::unique_ptr<StorageWatch>> watch_changes(std::string prefix, Revision after) {
    return watch(std::move(prefix), after);
  }

  struct Compared {
    RangeResult result;      // the result of range()
    bool same_bytes = true;  // a write of `worked` would not change the stored bytes
  };
  // Reads one key with range(), and determines whether a write of `worked` would change the stored bytes. `worked`: canonical JSON that
  // equals the object. The bytes may differ because of another version, another encoding or another encryption key.
  virtual Task<Result<Compared>> compare(std::string key, SharedBytes worked);
};

}  // namespace backplane
