#include "app/tracked_caches.hpp"

#include <algorithm>

namespace backplane {

std::shared_ptr<ResourceCache> TrackedCaches::add(CacheConfig config, bool eager) {
  const std::string prefix = config.prefix;
  auto cache = behind_.add(std::move(config), eager);
  std::lock_guard lock(mutex_);
  std::erase_if(entries_, [&](const Entry& entry) { return entry.prefix == prefix; });
  entries_.push_back(Entry{prefix, eager, cache});
  return cache;
}

void TrackedCaches::remove(std::string_view prefix) {
  behind_.remove(prefix);
  std::lock_guard lock(mutex_);
  std::erase_if(entries_, [&](const Entry& entry) { return entry.prefix == prefix; });
}

std::vector<std::string> TrackedCaches::not_ready() const {
  std::lock_guard lock(mutex_);
  std::vector<std::string> prefixes;
  for (const auto& entry : entries_) {
    auto cache = entry.cache.lock();
    if (entry.eager && cache && !cache->ready()) prefixes.push_back(entry.prefix);
  }
  return prefixes;
}

std::vector<std::shared_ptr<ResourceCache>> TrackedCaches::eager() const {
  std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<ResourceCache>> caches;
  for (const auto& entry : entries_) {
    auto cache = entry.cache.lock();
    if (entry.eager && cache) caches.push_back(std::move(cache));
  }
  return caches;
}

std::vector<std::pair<std::string, TrackedCaches::Totals>> TrackedCaches::totals() const {
  std::lock_guard lock(mutex_);
  std::vector<std::pair<std::string, Totals>> out;
  for (const auto& entry : entries_) {
    if (auto cache = entry.cache.lock()) out.emplace_back(entry.prefix, Totals{cache->size(), cache->bytes()});
  }
  return out;
}

}  // namespace backplane
