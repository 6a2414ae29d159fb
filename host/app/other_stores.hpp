// The stores of --etcd-servers-overrides, and one CacheHub over the caches of all stores.
//
// Thread-safety: as what they are made of; opened, started and stopped by one thread.
// Lifetime:      the stores outlive the hub; stop() before destruction.
// Errors:        of a flag that cannot be read: upstream's sentence; of a store: the backend's.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/store_parts.hpp"
#include "backplane/core/meta.hpp"

namespace backplane {

struct StoreOverride {
  GroupResource resource;  // or kWholeGroup in place of its name
  std::string servers;     // "http://a:2379;http://b:2379"
};

// Of the flag's values: group/resource#servers.
Result<std::vector<StoreOverride>> parse_store_overrides(const std::vector<std::string>& values);

// The name under which a plugin registers a backend for other servers than those of the flags.
std::string override_backend(std::string_view backend, std::string_view servers);

// The resources whose reads the store confirms (--watch-cache, --watch-cache-sizes).
struct ConfirmedReads {
  bool all = false;
  std::vector<std::string> resources;  // "pods", "deployments.apps"
  // `sizes`: resource[.group]#size, which check_accepted_values() has accepted. Two facts in them have an effect: a size of 0, and whether
  // events have a size.
  static ConfirmedReads of(bool watch_cache, const std::vector<std::string>& sizes);
  bool includes(const GroupResource& resource) const;
  bool none() const noexcept { return !all && resources.empty(); }
};

// The hubs of all stores as one: a cache is added to the hub of its resource's store.
class HubOfStores final : public CacheHub {
 public:
  // The first store holds every resource that is in no other store.  `stores` must not change during the lifetime of this object.
  HubOfStores(const std::vector<StoreParts>& stores, ConfirmedReads confirmed)
      : stores_(stores), started_(stores.size()), confirmed_(std::move(confirmed)) {}

  std::shared_ptr<ResourceCache> add(CacheConfig config, bool eager) override;
  void remove(std::string_view prefix) override;
  void retire(std::string_view prefix) override;
  void close_retired() override;
  // Starts the hub of each store that is not started yet; returns the first error. A later call continues there.
  Task<Status> start() override;
  Task<void> stop() override;
  // The resources of --etcd-servers-overrides that have no cache. Not concurrent with add().
  std::vector<GroupResource> unused() const;

 private:
  const StoreParts& store_of(const CacheConfig& config);

  const std::vector<StoreParts>& stores_;
  std::vector<bool> started_;
  std::set<GroupResource> used_;
  const ConfirmedReads confirmed_;
};

}  // namespace backplane
