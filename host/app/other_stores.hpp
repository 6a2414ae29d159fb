// The stores of --etcd-servers-overrides, and one CacheHub over the caches of all stores.
//
// Thread-safety: as CacheHub; opened, started and stopped by one thread.
// Lifetime:      the stores outlive the hub; stop() before destruction.
// Errors:        upstream's message for a value of the flag that cannot be parsed; the backend's error for a store that cannot be opened.
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
  GroupResource resource;  // resource.resource is kWholeGroup for all resources of a group
  std::string servers;     // "http://a:2379;http://b:2379"
};

// Parses values of the form group/resource#servers.
Result<std::vector<StoreOverride>> parse_store_overrides(const std::vector<std::string>& values);

// The name under which the plugin of `backend` registers a backend for `servers`, which are not those of --etcd-servers.
std::string override_backend(std::string_view backend, std::string_view servers);

// The resources whose reads are confirmed with the store, because the flags switch off their watch caches (--watch-cache,
// --watch-cache-sizes).
struct ConfirmedReads {
  bool all = false;
  std::vector<std::string> resources;  // "pods", "deployments.apps"
  // `sizes`: values of the form resource[.group]#size, which check_accepted_values() has accepted. A size has an effect only if it is 0, or
  // if it is that of events.
  static ConfirmedReads of(bool watch_cache, const std::vector<std::string>& sizes);
  bool includes(const GroupResource& resource) const;
  bool none() const noexcept { return !all && resources.empty(); }
};

// The hubs of all stores, combined: add() adds a cache to the hub of the store that holds the cache's resource.
class HubOfStores final : public CacheHub {
 public:
  // The first store holds every resource that is in no other store.  `stores` must not change during the lifetime of this object.
  HubOfStores(const std::vector<StoreParts>& stores, ConfirmedReads confirmed)
      : stores_(stores), started_(stores.size()), confirmed_(std::move(confirmed)) {}

  std::shared_ptr<ResourceCache> add(CacheConfig config, bool eager) override;
  void remove(std::string_view prefix) override;
  void retire(std::string_view prefix) override;
  void restore(std::string_view prefix, const std::shared_ptr<ResourceCache>& retired) override;
  // Starts the hub of each store that has not been started, and returns the first error. A later call starts the remaining hubs.
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
