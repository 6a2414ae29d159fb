// StoreWalk reads all keys below /registry/ in pages; StoreDigest computes a digest of keys and values.
//
// A page has at most kMaxPage values, and fewer if the values are large, so that the memory is bounded. Short-lived records of servers
// (/registry/masterleases/, /registry/peerserverleases/ and /registry/backplane/) are skipped, because they are meaningless in another
// store.
//
// Thread-safety: one thread.
// Lifetime:      borrows the store.
// Errors:        the store's; kExpired if the revision has been compacted.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/points/storage.hpp"
#include "storage/object_keys.hpp"

namespace backplane {

// True if the key is one of the skipped records.
bool is_server_state(std::string_view key);

class StoreDigest {
 public:
  StoreDigest();
  ~StoreDigest();
  StoreDigest(StoreDigest&&) noexcept;
  StoreDigest& operator=(StoreDigest&&) noexcept;
  void add(std::string_view key, std::string_view value);
  std::uint64_t keys() const noexcept { return keys_; }
  std::uint64_t bytes() const noexcept { return bytes_; }
  // The SHA-256 digest of keys and values in the order of add(), in hexadecimal digits.  To be called once, at the end.
  std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
  std::uint64_t keys_ = 0, bytes_ = 0;
};

class StoreWalk {
 public:
  static constexpr std::int64_t kMaxPage = 500;

  // `revision` 0: each page is read at the store's newest revision.
  StoreWalk(StorageBackend& store, Revision revision, bool keys_only = false);
  // Reads the next page into items(); false at the end.
  Task<Result<bool>> next();
  const std::vector<KeyValue>& items() const noexcept { return items_; }
  // The key range of the page is [from(), end()).
  const std::string& from() const noexcept { return from_; }
  const std::string& end() const noexcept { return end_; }

 private:
  StorageBackend& store_;
  const Revision revision_;
  const bool keys_only_;
  std::int64_t limit_ = 32;
  std::string from_, end_;
  std::vector<KeyValue> items_;
};

}  // namespace backplane
