// Counts the requests in progress. After start_waiting(), a WaitGroup refuses new requests, and drained() fires when the last request has
// ended.
//
// Thread-safety: any thread. A request costs one atomic addition and one atomic subtraction.
// Lifetime:      outlives every counted request.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "base/signal.hpp"

namespace backplane {

class WaitGroup {
 public:
  WaitGroup() : drained_("drained") {}
  // Counts a request. After start_waiting(), returns false and counts nothing.
  bool try_add() noexcept;
  void done();
  // Refuses new requests from now on. drained() fires when the last counted request has ended.
  void start_waiting();
  std::size_t count() const noexcept { return state_.load(std::memory_order_relaxed) & ~kWaiting; }
  bool waiting() const noexcept { return (state_.load(std::memory_order_relaxed) & kWaiting) != 0; }
  Signal& drained() noexcept { return drained_; }

 private:
  static constexpr std::uint64_t kWaiting = std::uint64_t{1} << 63;
  std::atomic<std::uint64_t> state_{0};
  NamedSignal drained_;
};

// A wait group whose members leave one after another during a shutdown. Otherwise, a thousand watchers would reconnect at the same moment.
class PacedWaitGroup {
 public:
  bool try_add() noexcept { return group_.try_add(); }
  void done() { group_.done(); }
  // From now on, max(200, count / grace) members leave in each second. After `grace`, all remaining members leave at once.
  void start_waiting(std::chrono::nanoseconds grace);
  // Waits for the time at which this member may end its response. Returns immediately if start_waiting() has not been called.
  Task<void> wait_turn();
  std::size_t count() const noexcept { return group_.count(); }
  Signal& drained() noexcept { return group_.drained(); }

 private:
  static constexpr double kFloorPerSecond = 200;
  WaitGroup group_;
  std::atomic<std::int64_t> interval_ns_{0};  // 0: start_waiting() has not been called
  std::atomic<std::int64_t> next_turn_ns_{0};
  std::atomic<std::int64_t> end_ns_{0};
};

}  // namespace backplane
