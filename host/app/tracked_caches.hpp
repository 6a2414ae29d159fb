// Forwards to another cache hub, and records which caches the server must have loaded before it is ready (the eager ones).
//
// Thread-safety, errors: as CacheHub.
// Lifetime:              borrows the wrapped hub.
#pragma once

#include <functional>
#include <map>
#include <mutex>

#include "backplane/points/request_gate.hpp"
#include "watchcache/resource_cache.hpp"

namespace backplane {

class TrackedCaches final : public CacheHub {
 public:
  explicit TrackedCaches(CacheHub& hub) : hub_(hub) {}
  std::shared_ptr<ResourceCache> add(CacheConfig config, bool eager) override;
  void remove(std::string_view prefix) override;
  void retire(std::string_view prefix) override { hub_.retire(prefix); }
  void close_retired() override { hub_.close_retired(); }
  Task<Status> start() override { return hub_.start(); }
  Task<void> stop() override { return hub_.stop(); }

  // Prefixes of eager caches that have not been loaded yet.
  std::vector<std::string> not_ready() const;
  std::vector<std::shared_ptr<ResourceCache>> eager() const;
  struct Totals {
    std::size_t objects = 0;
    std::size_t bytes = 0;
    Revision revision = 0;  // 0: not loaded
    GroupResource resource;
    void read(const ResourceCache& cache);  // sets all but the resource
  };
  // The prefix and the totals of every cache that still exists.
  std::vector<std::pair<std::string, Totals>> totals() const;
  // Calls `visit` for each cache that still exists, in the order of the prefixes. `visit` must not call this object.
  using Visit = std::function<void(const std::string& prefix, const GroupResource& resource, const ResourceCache& cache)>;
  void visit(const Visit& visit) const;
  // The number and the total size of the objects in each cache that is loaded.
  std::vector<StoredObjects> counts() const;

 private:
  struct Entry {
    bool eager = false;
    GroupResource resource;
    std::weak_ptr<ResourceCache> cache;
  };
  CacheHub& hub_;
  mutable std::mutex mutex_;
  std::map<std::string, Entry, std::less<>> entries_;  // by prefix
};

}  // namespace backplane
