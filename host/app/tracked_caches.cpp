#include "app/tracked_caches.hpp"

#include <utility>

namespace backplane {

std::shared_ptr<ResourceCache> TrackedCaches::add(CacheConfig config, bool eager) {
  const std::string prefix = config.prefix;
  const GroupResource resource = config.resource;
  auto cache = hub_.add(std::move(config), eager);
  std::lock_guard lock(mutex_);
  Entry& entry = entries_[prefix];
  if (entry.cache.lock() != cache) entry.retired = std::exchange(entry.cache, cache);
  entry.eager = entry.eager || (eager && !started_.load());
  entry.resource = resource;
  return cache;
}

void TrackedCaches::remove(std::string_view prefix) {
  hub_.remove(prefix);
  std::lock_guard lock(mutex_);
  if (const auto found = entries_.find(prefix); found != entries_.end()) entries_.erase(found);
}

void TrackedCaches::restore(std::string_view prefix, const std::shared_ptr<ResourceCache>& retired) {
  hub_.restore(prefix, retired);
  std::lock_guard lock(mutex_);
  if (const auto found = entries_.find(prefix); found != entries_.end()) found->second.cache = retired;
}

bool TrackedCaches::Entry::waits() const {
  const auto now = cache.lock();
  if (!eager || !now || now->ready()) return false;
  const auto before = retired.lock();
  return !before || !before->ready();
}

std::vector<std::string> TrackedCaches::not_ready() const {
  std::lock_guard lock(mutex_);
  std::vector<std::string> prefixes;
  for (const auto& [prefix, entry] : entries_) {
    if (entry.waits()) prefixes.push_back(prefix);
  }
  return prefixes;
}

std::vector<std::shared_ptr<ResourceCache>> TrackedCaches::eager() const {
  std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<ResourceCache>> caches;
  for (const auto& [prefix, entry] : entries_) {
    auto cache = entry.cache.lock();
    if (entry.eager && cache) caches.push_back(std::move(cache));
  }
  return caches;
}

void TrackedCaches::Totals::read(const ResourceCache& cache) {
  objects = cache.size();
  bytes = cache.bytes();
  revision = cache.ready() ? cache.revision() : 0;
}

std::vector<std::pair<std::string, TrackedCaches::Totals>> TrackedCaches::totals() const {
  std::vector<std::pair<std::string, Totals>> out;
  visit([&out](const std::string& prefix, const GroupResource& resource, const ResourceCache& cache) {
    Totals& totals = out.emplace_back(prefix, Totals()).second;
    totals.resource = resource;
    totals.read(cache);
  });
  return out;
}

void TrackedCaches::visit(const Visit& visit) const {
  std::lock_guard lock(mutex_);
  for (const auto& [prefix, entry] : entries_) {
    if (const auto cache = entry.cache.lock()) visit(prefix, entry.resource, *cache);
  }
}

std::vector<StoredObjects> TrackedCaches::counts() const {
  std::lock_guard lock(mutex_);
  std::vector<StoredObjects> out;
  for (const auto& [prefix, entry] : entries_) {
    const auto cache = entry.cache.lock();
    if (cache && cache->ready()) out.push_back({entry.resource, cache->size(), cache->bytes()});
  }
  return out;
}

}  // namespace backplane
