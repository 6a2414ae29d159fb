// What a copy of a store writes with: puts and removals in transactions of a size that every store takes, and a revision that is raised.
//
// Thread-safety: one caller at a time.
// Lifetime:      borrows the store.
// Errors:        those of the store; what was in the transaction that failed is gone from the writer.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "backplane/points/storage.hpp"

namespace backplane {

// Of one key.
TxnRequest put_request(std::string_view key, std::string value, LeaseId lease);
TxnRequest remove_request(std::string_view key);
RangeRequest one_key(std::string_view key);
Task<Status> write_now(StorageBackend& store, TxnRequest request);
Task<Result<std::optional<KeyValue>>> read_key(StorageBackend& store, std::string_view key);

// Makes the store's revision at least `goal`: at once where the store can (StorageBackend::can_raise_revision), else by writes to a key
// that is removed at the end.  `progress` (may be empty) is told the revision now and then.
Task<Status> raise_to(StorageBackend& store, Revision goal, const std::function<void(std::uint64_t revision)>& progress);

class StoreWriter {
 public:
  // `lease`: how long what expires is kept.
  StoreWriter(StorageBackend& store, std::chrono::seconds lease) : store_(store), keep_(lease) {}

  Task<Status> remove(std::string key);
  // What had a lease gets one of this store.
  Task<Status> add(const KeyValue& item);
  Task<Status> flush();
  // Forgets what has not been written.
  void drop();

 private:
  std::size_t writes() const { return batch_.puts.size() + batch_.removes.size(); }
  Task<Result<LeaseId>> lease();

  StorageBackend& store_;
  const std::chrono::seconds keep_;
  TxnRequest batch_;
  std::size_t batch_bytes_ = 0;
  LeaseId lease_ = 0;
  std::size_t leased_ = 0;
};

}  // namespace backplane
