// Forwards to another cache hub, and records which caches the server must have loaded before it is ready: the eager ones whose prefix had a
// cache before start(). Prefixes that a running server adds are loaded while it is ready.
//
// Thread-safety, errors: as CacheHub.
// Lifetime:              borrows the wrapped hub.
#pragma once

#include <atomic>
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
  void restore(std::string_view prefix, const std::shared_ptr<ResourceCache>& retired) override;
  Task<Status> start() override {
    started_.store(true);
    return hub_.start();
  }
  Task<void> stop() override { return hub_.stop(); }

  // Prefixes of eager caches that have not been loaded yet. A cache whose retired predecessor is loaded is not among them: its stores are
  // not published yet, or have been published a moment ago.
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
    std::weak_ptr<ResourceCache> retired;  // the predecessor
    bool waits() const;
  };
  CacheHub& hub_;
  std::atomic<bool> started_{false};
  mutable std::mutex mutex_;
  std::map<std::string, Entry, std::less<>> entries_;  // by prefix
};

}  // namespace backplane
