// The state that all stores of a server share (StoreEnvironment::State), and the part that each store gets of it (Backing).
//
// Thread-safety: every function that takes `mutex` from any thread; BackingSlot::get() from any thread, without a lock.
// Lifetime:      shared by the environment and every store made in it.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "backplane/kit/published.hpp"
#include "registry/leases.hpp"
#include "registry/store.hpp"

namespace backplane {

namespace registry {

class ObjectStore;

// The parts of a store that exist only after start().
struct Backing {
  ObjectStorage* storage = nullptr;
  WriteAdmission* admission = nullptr;
  std::shared_ptr<ResourceCache> cache;
  Leases* leases = nullptr;
  std::shared_ptr<const StoreSettings> settings;  // shared by all stores: a separate copy would be larger than the store
};

// A store's entry in the environment: empty until start().
class BackingSlot {
 public:
  BackingSlot(CacheConfig config, StoredKind kind)
      : config_(std::move(config)), kind_(std::make_unique<const StoredKind>(std::move(kind))) {}
  BackingSlot(const BackingSlot&) = delete;
  BackingSlot& operator=(const BackingSlot&) = delete;
  ~BackingSlot() { delete backing_.load(std::memory_order_acquire); }

  const CacheConfig& config() const noexcept { return config_; }
  // Valid until fill().
  const StoredKind& kind() const noexcept { return *kind_; }
  const Backing* get() const noexcept { return backing_.load(std::memory_order_acquire); }
  void fill(Backing backing) {
    backing_.store(new Backing(std::move(backing)), std::memory_order_release);
    kind_.reset();
  }

 private:
  const CacheConfig config_;
  std::unique_ptr<const StoredKind> kind_;
  std::atomic<const Backing*> backing_{nullptr};
};

}  // namespace registry

struct StoreEnvironment::State {
  std::mutex mutex;
  ObjectStorage* storage = nullptr;
  CacheHub* caches = nullptr;
  WriteAdmission* admission = nullptr;
  StoreEnvironment::Kept kept;
  std::shared_ptr<const StoreSettings> settings;
  std::unique_ptr<registry::Leases> leases;
  // The store of a resource that --etcd-servers-overrides names.
  struct OverrideStore {
    ObjectStorage* storage = nullptr;
    std::shared_ptr<registry::Leases> leases;  // shared by the resources of the same storage
  };
  std::map<GroupResource, OverrideStore> override_stores;
  // The ObjectStores of one key prefix share a cache, which is removed with the last of them. A store with another CacheConfig (of a custom
  // resource whose definition has changed, or of another build of a plugin) gets a new cache. The former cache serves its stores until
  // end_replaced(); if the new stores are destroyed before that, it becomes the cache of the prefix again.
  struct CacheUse {
    std::vector<const registry::BackingSlot*> users;  // never empty; their configurations are the same
    std::weak_ptr<const void> owner;                  // the hold of the last user that was added
  };
  std::vector<registry::BackingSlot*> waiting;  // the slots that start() will fill
  // Key prefix → the versions of the stores and views that were made over it before start().
  std::map<std::string, std::vector<GroupVersionResource>> versions;
  std::map<std::string, std::vector<CacheUse>> prefixes;  // key prefix → its caches, the newest last; without those of end_replaced()
  std::set<std::string> renewed;                          // the prefixes that have several caches
  // Key prefix → the stores over it, the newest last.  There are several while a resource is being replaced.
  std::map<std::string, std::vector<std::weak_ptr<registry::ObjectStore>>> stores;
  // The Scheme of all plugins; set before start().
  kit::Published<Scheme> scheme{nullptr};

  void start(ObjectStorage& storage, CacheHub& caches, WriteAdmission& admission, Kept kept, StoreSettings settings);
  // `hold`: that of the slot's store.
  void attach(registry::BackingSlot& slot, const Hold& hold);
  void detach(registry::BackingSlot& slot);
  // The newest store over a prefix, or null.
  std::shared_ptr<registry::ObjectStore> find(const std::string& root);
  // Makes `store` the newest store over its prefix. Errors: before start(), kAlreadyExists if the prefix has a store, because two kinds
  // cannot share keys.
  Status claim(const std::shared_ptr<registry::ObjectStore>& store);
  // Adds a version to versions[root]; has no effect after start().
  void note_version(const std::string& root, GroupVersionResource version);
  // The stores that were made with `hold`; `newest_only`: only those that have no successor.
  std::vector<std::shared_ptr<registry::ObjectStore>> made_with(const Hold& hold, bool newest_only);
  // Removes the caches that stores made with `hold` have replaced from `prefixes`, and returns them.
  std::vector<std::shared_ptr<ResourceCache>> take_replaced(const Hold& hold);

 private:
  bool serves(const registry::BackingSlot& slot) const;
  // Removes a slot from the users of its cache. If it was the last one, removes the cache.
  void leave(const registry::BackingSlot& slot);
  void fill(registry::BackingSlot& slot, bool eager);
  // Removes destroyed stores from stores[prefix]. If the newest store was among them, reports the kind of the newest remaining store to
  // `kept`. Returns the newest remaining store; the caller, which holds the lock, releases the result after the lock.
  std::shared_ptr<registry::ObjectStore> forget_ended(const std::string& prefix);
};

}  // namespace backplane
