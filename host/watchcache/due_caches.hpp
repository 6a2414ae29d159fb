// The times at which caches must act: send a bookmark, release a snapshot, or load again. A cache without a timer takes no part in a tick.
//
// Thread-safety: every method from any thread.
// Lifetime:      destroyed caches are skipped.
#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace backplane {

template <class Cache>
class DueCaches {
 public:
  using Clock = std::chrono::steady_clock;

  void set(Clock::time_point due, std::weak_ptr<Cache> cache) {
    const std::lock_guard lock(mutex_);
    const Cache* key = cache.lock().get();
    if (key != nullptr) due_.insert_or_assign({due, key}, std::move(cache));
  }
  // Removes and returns the due caches, each once.
  std::vector<std::shared_ptr<Cache>> take(Clock::time_point now) {
    std::vector<std::shared_ptr<Cache>> caches;
    const std::lock_guard lock(mutex_);
    while (!due_.empty() && due_.begin()->first.first <= now) {
      if (auto cache = due_.begin()->second.lock()) caches.push_back(std::move(cache));
      due_.erase(due_.begin());
    }
    std::sort(caches.begin(), caches.end());
    caches.erase(std::unique(caches.begin(), caches.end()), caches.end());
    return caches;
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<Clock::time_point, const Cache*>, std::weak_ptr<Cache>> due_;
};

}  // namespace backplane
