// Counts the requests in progress.  After start_waiting() it refuses new ones and signals when the last one has ended.
//
// Thread-safety: every method from any thread; counting is one atomic addition.
// Lifetime:      outlives every request that was counted.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "base/signal.hpp"

namespace backplane {

class WaitGroup {
 public:
  WaitGroup() : drained_("drained") {}
  // False once start_waiting() has been called; then nothing is counted.
  bool try_add() noexcept;
  void done();
  // Refuses new requests from then on; drained() fires when the last counted request has ended.
  void start_waiting();
  std::size_t count() const noexcept { return state_.load(std::memory_order_relaxed) & ~kWaiting; }
  bool waiting() const noexcept { return (state_.load(std::memory_order_relaxed) & kWaiting) != 0; }
  Signal& drained() noexcept { return drained_; }

 private:
  static constexpr std::uint64_t kWaiting = std::uint64_t{1} << 63;
  std::atomic<std::uint64_t> state_{0};
  NamedSignal drained_;
};

// A wait group whose members leave one after another, so that a thousand watchers do not reconnect at the same moment after a shutdown.
class PacedWaitGroup {
 public:
  bool try_add() noexcept { return group_.try_add(); }
  void done() { group_.done(); }
  // Members leave at max(200, count / grace) a second; after `grace`, all leave at once.
  void start_waiting(std::chrono::nanoseconds grace);
  // Waits for this member's turn to end its response; returns at once before start_waiting().
  Task<void> wait_turn();
  std::size_t count() const noexcept { return group_.count(); }
  Signal& drained() noexcept { return group_.drained(); }

 private:
  static constexpr double kFloorPerSecond = 200;
  WaitGroup group_;
  std::atomic<std::int64_t> interval_ns_{0};  // 0: start_waiting() was not called
  std::atomic<std::int64_t> next_turn_ns_{0};
  std::atomic<std::int64_t> end_ns_{0};
};

}  // namespace backplane
