// Counts the objects and bytes of each type in a store. The type is derived from the key.
//
// Thread-safety: one thread; other clients may use the store.
// Lifetime:      borrows the store.
// Errors:        the store's.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "backplane/points/storage.hpp"

namespace backplane {

struct TypeUsage {
  std::uint64_t objects = 0, bytes = 0, largest = 0;
};

struct StoreUsage {
  Revision revision = 0;
  std::map<std::string, TypeUsage> types;
  TypeUsage total;
  void add(const KeyValue& item);
};

// The type of a key: "pods", "services/specs", "widgets.example.com".
std::string stored_type(std::string_view key);

// Reads the whole store. `progress` is called with the numbers so far.
Task<Result<StoreUsage>> read_usage(StorageBackend& store, std::function<void(const StoreUsage&)> progress);

}  // namespace backplane
