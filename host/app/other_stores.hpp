// Stores beside the one that keeps everything: single resources on etcd servers of their own (--etcd-servers-overrides).  Each has its own
// history and revisions, caches, leases and compaction.
//
// Thread-safety: as what they are made of; opened, started and stopped by one thread.
// Lifetime:      outlive the stores' use; stop() before destruction.
// Errors:        of a flag that cannot be read: upstream's sentence; of a store: the backend's.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/meta.hpp"
#include "storage/compactor.hpp"
#include "storage/encoded_storage.hpp"
#include "storage/store_hold.hpp"
#include "watchcache/resource_cache.hpp"

namespace backplane {

struct StoreOverride {
  GroupResource resource;
  std::string servers;  // "http://a:2379;http://b:2379"
};

// Of the flag's values: group/resource#servers.
Result<std::vector<StoreOverride>> parse_store_overrides(const std::vector<std::string>& values);

// The name under which a plugin registers a backend for other servers than those of the flags.
std::string override_backend(std::string_view backend, std::string_view servers);

// One of them.
struct OtherStore {
  std::string servers;
  std::unique_ptr<StorageBackend> storage;
  std::unique_ptr<HeldStorage> held;
  std::unique_ptr<EncodedStorage> encoded;
  std::unique_ptr<CacheHub> hub;
  std::unique_ptr<Compactor> compactor;
  std::vector<GroupResource> resources;
};

// Of which resources reads are confirmed by the store (--watch-cache, --watch-cache-sizes).
struct ConfirmedReads {
  bool all = false;
  std::vector<std::string> resources;  // "pods", "deployments.apps"
  // `sizes`: resource[.group]#size, as check_accepted_values() has let them through; only a size of 0 means something.
  static ConfirmedReads of(bool watch_cache, const std::vector<std::string>& sizes);
  bool includes(const GroupResource& resource) const;
};

// The hubs of all stores as one: a cache is added to the hub of its resource's store.
class HubOfStores final : public CacheHub {
 public:
  explicit HubOfStores(CacheHub& main, ConfirmedReads confirmed = {}) : hubs_{Part{&main, {}, false}}, confirmed_(std::move(confirmed)) {}
  // Before anything is added.
  void use(CacheHub& hub, std::vector<GroupResource> resources) { hubs_.push_back({&hub, std::move(resources), false}); }

  std::shared_ptr<ResourceCache> add(CacheConfig config, bool eager) override;
  void remove(std::string_view prefix) override;
  void retire(std::string_view prefix) override;
  void close_retired() override;
  // Those that follow their store already go on; the first that cannot ends it.
  Task<Status> start() override;
  Task<void> stop() override;

 private:
  struct Part {
    CacheHub* hub;
    std::vector<GroupResource> resources;
    bool started;
  };
  std::vector<Part> hubs_;  // the first has what no other has
  const ConfirmedReads confirmed_;
};

}  // namespace backplane
