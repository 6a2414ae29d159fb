// When a server was last reached, over whichever of a host's connections to it: what one of them has found out, the others need not wait
// for.
//
// Thread-safety: any thread.
// Errors:        none.
#pragma once

#include <atomic>
#include <chrono>

namespace backplane::etcd {

class Reachability {
 public:
  using Clock = std::chrono::steady_clock;

  // A connection to it has been made.
  void note() noexcept { reached_.store(Clock::now().time_since_epoch().count(), std::memory_order_release); }
  // Whether one has been made after `then`.
  bool since(Clock::time_point then) const noexcept { return reached_.load(std::memory_order_acquire) > then.time_since_epoch().count(); }

 private:
  std::atomic<Clock::rep> reached_{Clock::time_point::min().time_since_epoch().count()};
};

}  // namespace backplane::etcd
