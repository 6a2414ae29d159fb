// Counters of one flow schema's requests in one priority level.
//
// Thread-safety: relaxed atomics; any thread.  `waiting` and `queue_lengths` are changed under the level's lock.
// Lifetime:      owned by its level.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace backplane::flowcontrol {

// A histogram of a property of requests, for Prometheus.
template <const auto& bounds>
class Buckets {
 public:
  static constexpr std::size_t kSize = bounds.size();
  void observe(double value, std::uint64_t to_sum) noexcept {
    const auto at = static_cast<std::size_t>(std::lower_bound(bounds.begin(), bounds.end(), value) - bounds.begin());
    counts_[at].fetch_add(1, std::memory_order_relaxed);
    sum_.fetch_add(to_sum, std::memory_order_relaxed);
  }
  // The last bucket (i == kSize) counts the values above all bounds.
  std::uint64_t in_bucket(std::size_t i) const noexcept { return counts_[i].load(std::memory_order_relaxed); }
  std::uint64_t count() const noexcept {
    std::uint64_t all = 0;
    for (const auto& count : counts_) all += count.load(std::memory_order_relaxed);
    return all;
  }
  std::uint64_t sum() const noexcept { return sum_.load(std::memory_order_relaxed); }

 private:
  std::array<std::atomic<std::uint64_t>, bounds.size() + 1> counts_{};
  std::atomic<std::uint64_t> sum_{0};
};

inline constexpr std::array<double, 13> kDurationBounds{0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30};
inline constexpr std::array<double, 8> kLengthBounds{0, 10, 25, 50, 100, 250, 500, 1000};
inline constexpr std::array<double, 8> kSeatBounds{1, 2, 4, 8, 16, 32, 64, 100};

enum RejectReason : unsigned char { kConcurrencyLimit, kQueueFull, kTimeOut };

struct alignas(64) FlowCounts {
  using Durations = Buckets<kDurationBounds>;

  explicit FlowCounts(std::string name = {}) : schema(std::move(name)) {}
  const std::string schema;

  // The low 32 bits count requests, the high 32 bits count their seats: one addition changes both counts.
  std::atomic<std::uint64_t> executing{0};
  std::array<Durations, 2> executed;  // [0]: requests other than watches, [1]: watches; the sums in nanoseconds
  std::atomic<std::uint64_t> waiting{0};
  std::array<Durations, 2> waited;  // queued requests; [0]: rejected, [1]: executed; the sums in nanoseconds
  Buckets<kLengthBounds> queue_lengths;
  Buckets<kSeatBounds> wide;  // requests that need more than one seat
  std::array<std::atomic<std::uint64_t>, 3> rejected{};
  std::atomic<std::uint64_t> not_accommodated{0};

  static std::uint64_t both(std::uint32_t seats) noexcept { return std::uint64_t{seats} << 32 | 1; }
  void entered(std::uint32_t seats) noexcept { executing.fetch_add(both(seats), std::memory_order_relaxed); }
  void left(std::uint32_t seats, bool watch, std::chrono::nanoseconds took) noexcept {
    executing.fetch_sub(both(seats), std::memory_order_relaxed);
    executed[watch ? 1 : 0].observe(std::chrono::duration<double>(took).count(), static_cast<std::uint64_t>(took.count()));
  }
  // The number of requests that have got seats since the start, including running ones.
  std::uint64_t dispatched() const noexcept {
    const auto running = static_cast<std::uint32_t>(executing.load(std::memory_order_relaxed));
    return running + executed[0].count() + executed[1].count();
  }
};

}  // namespace backplane::flowcontrol
