// Reads a store key by key in pages, and computes its fingerprint: number of keys, number of bytes, one digest.
//
// A page holds at most kMaxPage values, fewer when they are large: which bounds the memory, whatever the size of the store. Short-lived
// records of servers (/registry/masterleases/, peerserverleases/ and backplane/) are skipped: they mean nothing in another store.
//
// Thread-safety: one thread.
// Lifetime:      borrows the store.
// Errors:        the store's; kExpired when the revision has been compacted away.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/points/storage.hpp"
#include "storage/object_keys.hpp"

namespace backplane {

bool belongs_to_a_server(std::string_view key);

class StoreDigest {
 public:
  StoreDigest();
  ~StoreDigest();
  StoreDigest(StoreDigest&&) noexcept;
  StoreDigest& operator=(StoreDigest&&) noexcept;
  void add(std::string_view key, std::string_view value);
  std::uint64_t keys() const noexcept { return keys_; }
  std::uint64_t bytes() const noexcept { return bytes_; }
  // SHA-256 over keys and values in their order, in hexadecimal digits.  Last.
  std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
  std::uint64_t keys_ = 0, bytes_ = 0;
};

class StoreWalk {
 public:
  static constexpr std::int64_t kMaxPage = 500;

  // `revision` 0: each page is the newest.
  StoreWalk(StorageBackend& store, Revision revision, bool keys_only = false);
  // Reads the next page into items(); false at the end.
  Task<Result<bool>> next();
  const std::vector<KeyValue>& items() const noexcept { return items_; }
  // The page holds every key in [from, end).
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
