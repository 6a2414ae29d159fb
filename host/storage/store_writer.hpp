// Writes to the target of a copy: StoreWriter groups puts and removals into transactions that every backend accepts, and raise_to() raises
// the revision.
//
// Thread-safety: one caller at a time.
// Lifetime:      borrows the store.
// Errors:        those of the store. The changes of a failed transaction are not repeated.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "backplane/points/storage.hpp"

namespace backplane {

// The requests that put, remove or read one key.
TxnRequest put_request(std::string_view key, std::string value, LeaseId lease);
TxnRequest remove_request(std::string_view key);
RangeRequest one_key(std::string_view key);
Task<Status> write_now(StorageBackend& store, TxnRequest request);
Task<Result<std::optional<KeyValue>>> read_key(StorageBackend& store, std::string_view key);

// Raises the store's revision to at least `goal`, with StorageBackend::raise_revision() if the store supports it, otherwise with writes to
// a key that is removed afterwards.  `progress` (may be empty) is called with the revision from time to time.
Task<Status> raise_to(StorageBackend& store, Revision goal, const std::function<void(std::uint64_t revision)>& progress);

class StoreWriter {
 public:
  // `lease`: the lifetime of the leases that the writer grants.
  StoreWriter(StorageBackend& store, std::chrono::seconds lease) : store_(store), keep_(lease) {}

  Task<Status> remove(std::string key);
  // Adds a put. If the item has a lease, it gets a lease of the target store.
  Task<Status> add(const KeyValue& item);
  Task<Status> flush();
  // Discards the changes that have not been written.
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
