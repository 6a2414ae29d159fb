#include "app/tracked_caches.hpp"

namespace backplane {

std::shared_ptr<ResourceCache> TrackedCaches::add(CacheConfig config, bool eager) {
  const std::string prefix = config.prefix;
  const GroupResource resource = config.resource;
  auto cache = hub_.add(std::move(config), eager);
  std::lock_guard lock(mutex_);
  entries_.insert_or_assign(prefix, Entry{eager, resource, cache});
  return cache;
}

void TrackedCaches::remove(std::string_view prefix) {
  hub_.remove(prefix);
  std::lock_guard lock(mutex_);
  if (const auto found = entries_.find(prefix); found != entries_.end()) entries_.erase(found);
}

std::vector<std::string> TrackedCaches::not_ready() const {
  std::lock_guard lock(mutex_);
  std::vector<std::string> prefixes;
  for (const auto& [prefix, entry] : entries_) {
    auto cache = entry.cache.lock();
    if (entry.eager && cache && !cache->ready()) prefixes.push_back(prefix);
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
