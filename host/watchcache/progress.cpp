#include "watchcache/progress.hpp"

#include <vector>

#include "backplane/core/task_set.hpp"

namespace backplane {

void Progress::advance(Revision revision) {
  std::vector<Promise<bool>> reached;
  {
    // The revision is set under the lock, so that a wait that has read the old revision is already in waits_.
    std::lock_guard lock(mutex_);
    revision_.store(revision, std::memory_order_release);
    while (!waits_.empty() && waits_.begin()->first.first <= revision) {
      reached.push_back(std::move(waits_.begin()->second));
      waits_.erase(waits_.begin());
    }
  }
  for (auto& promise : reached) promise.set(true);
}

Task<bool> Progress::reached(Revision target, std::chrono::nanoseconds timeout) {
  if (revision() >= target) co_return true;
  Promise<bool> promise;
  std::pair<Revision, std::uint64_t> place;
  {
    std::lock_guard lock(mutex_);
    if (revision_.load() >= target) co_return true;
    if (closed_) co_return false;
    place = {target, ++last_wait_};
    waits_.emplace(place, promise);
  }
  const bool reached = co_await within(timeout, promise);
  if (!reached) {
    std::lock_guard lock(mutex_);
    waits_.erase(place);
  }
  co_return reached;
}

void Progress::close() {
  Waits waits;
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
    waits.swap(waits_);
  }
  for (auto& [_, promise] : waits) promise.set(false);
}

}  // namespace backplane
