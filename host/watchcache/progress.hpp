// The store revision that the caches have reached, and the coroutines that wait for a later one.
//
// Thread-safety: every method from any thread; advance() by one thread.
// Errors:        reached() returns false if it times out.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>

#include "backplane/core/task.hpp"
#include "backplane/points/storage.hpp"

namespace backplane {

class Progress {
 public:
  // The caches include every change up to this revision.
  Revision revision() const noexcept { return revision_.load(std::memory_order_acquire); }
  void advance(Revision revision);
  // Waits until revision() is at least `target`. False: `timeout` passed first, or close() was called.
  Task<bool> reached(Revision target, std::chrono::nanoseconds timeout);
  void close();

 private:
  using Waits = std::map<std::pair<Revision, std::uint64_t>, Promise<bool>>;
  std::atomic<Revision> revision_{0};
  std::mutex mutex_;
  Waits waits_;
  std::uint64_t last_wait_ = 0;
  bool closed_ = false;
};

}  // namespace backplane
