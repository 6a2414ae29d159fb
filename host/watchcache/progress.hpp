// The store revision that the caches have reached, and the coroutines that wait for a later one.
//
// Thread-safety: every method from any thread; advance() by one thread.
// Errors:        a wait that times out returns false.
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
  // True once revision() has reached `target`; false if `timeout` passed or close() was called before.
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
