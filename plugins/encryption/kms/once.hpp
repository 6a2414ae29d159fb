// An event that happens once, with any number of waiting coroutines.
//
// Thread-safety: any thread; a waiting coroutine resumes on its executor.
// Lifetime:      outlives every waiting coroutine.
#pragma once

#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "backplane/core/task.hpp"

namespace backplane::encryption {

class Once {
 public:
  bool happened() const noexcept { return happened_.load(std::memory_order_acquire); }
  // Idempotent.
  void happen() {
    std::vector<Promise<bool>> waiting;
    {
      const std::lock_guard lock(mutex_);
      happened_.store(true, std::memory_order_release);
      waiting = std::exchange(waiting_, {});
    }
    for (const auto& each : waiting) each.set(true);
  }
  Task<void> wait() {
    Promise<bool> mine;
    if (!enter(mine)) co_return;
    auto future = mine.future();
    co_await future;
  }

 private:
  bool enter(const Promise<bool>& mine) {
    const std::lock_guard lock(mutex_);
    if (happened()) return false;
    waiting_.push_back(mine);
    return true;
  }

  std::atomic<bool> happened_{false};
  std::mutex mutex_;
  std::vector<Promise<bool>> waiting_;
};

}  // namespace backplane::encryption
