// A store, the layers over it, and its caches: the main store, and those of single resources
// (--etcd-servers-overrides).  Each has its own history and revisions, caches, leases and compaction.
//
// Thread-safety: as its members; opened, started and stopped by one thread.
// Lifetime:      members are destroyed in reverse order; what was started is stopped before.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backplane/core/meta.hpp"
#include "storage/compactor.hpp"
#include "storage/encoded_storage.hpp"
#include "storage/measured_storage.hpp"
#include "storage/store_hold.hpp"
#include "watchcache/resource_cache.hpp"

namespace backplane {

struct StoreParts {
  std::string servers;                   // "http://a:2379;http://b:2379"; empty: those of the flags
  std::vector<GroupResource> resources;  // the resources in this store; empty: all resources that are in no other store
  std::unique_ptr<StorageBackend> storage;
  std::unique_ptr<HeldStorage> held;
  std::unique_ptr<MeasuredStorage> measured;
  std::unique_ptr<EncodedStorage> encoded;
  std::unique_ptr<CacheHub> hub;
  std::unique_ptr<Compactor> compactor;  // null: nothing is compacted
};

}  // namespace backplane
