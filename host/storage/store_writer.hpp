// Writes the copy of a store: puts and removals in transactions that every backend accepts, and a minimum revision.
//
// Thread-safety: one caller at a time.
// Lifetime:      borrows the store.
// Errors:        those of the store; the changes of a failed transaction are dropped from the writer.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "backplane/points/storage.hpp"

namespace backplane {

// Requests for one key.
TxnRequest put_request(std::string_view key, std::string value, LeaseId lease);
TxnRequest remove_request(std::string_view key);
RangeRequest one_key(std::string_view key);
Task<Status> write_now(StorageBackend& store, TxnRequest request);
Task<Result<std::optional<KeyValue>>> read_key(StorageBackend& store, std::string_view key);

// Makes the store's revision at least `goal`: by StorageBackend::raise_revision() if the store supports it, otherwise by writes to a key
// that is removed at the end.  `progress` is called with the revision from time to time; it may be empty.
Task<Status> raise_to(StorageBackend& store, Revision goal, const std::function<void(std::uint64_t revision)>& progress);

class StoreWriter {
 public:
  // `lease`: the time to live of the leases that it grants.
  StoreWriter(StorageBackend& store, std::chrono::seconds lease) : store_(store), keep_(lease) {}

  Task<Status> remove(std::string key);
  // Adds an item; an item with a lease gets a lease of this store.
  Task<Status> add(const KeyValue& item);
  Task<Status> flush();
  // Drops the changes that are not written.
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
