// How many short requests run at once, reading and changing apart, and how many may.
//
// Thread-safety: atomics; any thread.
// Lifetime:      outlives the chain.
#pragma once

#include <atomic>

namespace backplane {

class InFlightLimits {
 public:
  // 0: no limit.
  InFlightLimits(int read_only, int mutating) : read_only_(read_only), mutating_(mutating) {}

  bool try_enter(bool mutating) noexcept {
    Counter& counter = of(mutating);
    const int before = counter.running.fetch_add(1, std::memory_order_relaxed);
    if (counter.limit == 0 || before < counter.limit) return true;
    leave(mutating);
    return false;
  }
  void leave(bool mutating) noexcept { of(mutating).running.fetch_sub(1, std::memory_order_relaxed); }
  int running(bool mutating) const noexcept { return (mutating ? mutating_ : read_only_).running.load(std::memory_order_relaxed); }

 private:
  // Each on a cache line of its own: every core writes both.
  struct alignas(64) Counter {
    explicit Counter(int max) : limit(max) {}
    std::atomic<int> running{0};
    int limit;
  };
  Counter& of(bool mutating) noexcept { return mutating ? mutating_ : read_only_; }
  Counter read_only_;
  Counter mutating_;
};

}  // namespace backplane
