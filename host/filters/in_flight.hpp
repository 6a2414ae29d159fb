// Counts the requests in progress, read-only and mutating requests separately. Each kind has a limit, and the maximum of the last second.
//
// Thread-safety: any thread; the counts are atomic.
// Lifetime:      outlives the handler chain.
#pragma once

#include <atomic>
#include <chrono>
#include <string_view>

#include "backplane/core/task.hpp"

namespace backplane {

// Classifies a request by its verb.
inline bool is_mutating(std::string_view verb) noexcept { return verb != "get" && verb != "list" && verb != "watch"; }

class InFlightLimits {
 public:
  // The limits; 0: no limit.
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
  // Returns the maximum of the period that the last next_period() has ended.
  int highest(bool mutating) const noexcept { return (mutating ? mutating_ : read_only_).shown.load(std::memory_order_relaxed); }
  void next_period() noexcept {
    for (Counter* counter : {&read_only_, &mutating_}) {
      const int running = counter->running.load(std::memory_order_relaxed);
      counter->shown.store(counter->highest.exchange(running, std::memory_order_relaxed), std::memory_order_relaxed);
    }
  }

 private:
  // The counters have separate cache lines, because every core writes to both.
  struct alignas(64) Counter {
    explicit Counter(int max) : limit(max) {}
    std::atomic<int> running{0};
    std::atomic<int> highest{0};  // the maximum of this period
    std::atomic<int> shown{0};    // the maximum of the previous period
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

// Calls next_period() every second.
class InFlightPeriods {
 public:
  InFlightPeriods(InFlightLimits& limits, Executor& timer) : limits_(limits), timer_(timer) {}
  // Must be called before the loop runs. This object must outlive the loop.
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
