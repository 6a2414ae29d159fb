// Counts the short requests in progress, read-only and mutating ones separately, with their limits and their maximum in the last second.
//
// Thread-safety: atomics; any thread.
// Lifetime:      outlives the chain.
#pragma once

#include <atomic>
#include <chrono>
#include <string_view>

#include "backplane/core/task.hpp"

namespace backplane {

// The class of a request, by its verb.
inline bool is_mutating(std::string_view verb) noexcept { return verb != "get" && verb != "list" && verb != "watch"; }

class InFlightLimits {
 public:
  // 0: no limit.
  InFlightLimits(int read_only, int mutating) : read_only_(read_only), mutating_(mutating) {}

  bool try_enter(bool mutating) noexcept {
    Counter& counter = of(mutating);
    const int before = counter.running.fetch_add(1, std::memory_order_relaxed);
    if (counter.limit != 0 && before >= counter.limit) {
      leave(mutating);
      return false;
    }
    note_highest(counter, before + 1);
    return true;
  }
  // Counts a request that the request gate has admitted.
  void enter(bool mutating) noexcept {
    Counter& counter = of(mutating);
    note_highest(counter, counter.running.fetch_add(1, std::memory_order_relaxed) + 1);
  }
  void leave(bool mutating) noexcept { of(mutating).running.fetch_sub(1, std::memory_order_relaxed); }
  int running(bool mutating) const noexcept { return (mutating ? mutating_ : read_only_).running.load(std::memory_order_relaxed); }
  // The maximum of the period that ended with the last next_period().
  int highest(bool mutating) const noexcept { return (mutating ? mutating_ : read_only_).shown.load(std::memory_order_relaxed); }
  void next_period() noexcept {
    for (Counter* counter : {&read_only_, &mutating_}) {
      const int running = counter->running.load(std::memory_order_relaxed);
      counter->shown.store(counter->highest.exchange(running, std::memory_order_relaxed), std::memory_order_relaxed);
    }
  }

 private:
  // On separate cache lines, because every core writes both.
  struct alignas(64) Counter {
    explicit Counter(int max) : limit(max) {}
    std::atomic<int> running{0};
    std::atomic<int> highest{0};  // in this period
    std::atomic<int> shown{0};    // in the one before
    int limit;
  };
  static void note_highest(Counter& counter, int running) noexcept {
    int highest = counter.highest.load(std::memory_order_relaxed);
    while (running > highest && !counter.highest.compare_exchange_weak(highest, running, std::memory_order_relaxed)) continue;
  }
  Counter& of(bool mutating) noexcept { return mutating ? mutating_ : read_only_; }
  Counter read_only_;
  Counter mutating_;
};

// Begins a period every second.
class InFlightPeriods {
 public:
  InFlightPeriods(InFlightLimits& limits, Executor& timer) : limits_(limits), timer_(timer) {}
  // Call it before the loop runs. This object must outlive the loop.
  void start() {
    timer_.after(std::chrono::seconds(1), [this] {
      limits_.next_period();
      start();
    });
  }

 private:
  InFlightLimits& limits_;
  Executor& timer_;
};

}  // namespace backplane
