// A histogram of durations with Prometheus semantics.
//
// Thread-safety: any thread; the counts are relaxed atomics. A scrape reads each count separately, so the counts may not match.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace backplane {

// `bounds`: the upper bounds of the buckets in seconds, in ascending order.
template <const auto& bounds>
class Histogram {
 public:
  static constexpr std::size_t kSize = bounds.size();

  void observe(std::chrono::nanoseconds took) noexcept {
    const double seconds = std::chrono::duration<double>(took).count();
    const auto bucket = std::lower_bound(bounds.begin(), bounds.end(), seconds);
    if (bucket != bounds.end()) buckets_[static_cast<std::size_t>(bucket - bounds.begin())].fetch_add(1, std::memory_order_relaxed);
    count_.fetch_add(1, std::memory_order_relaxed);
    sum_ns_.fetch_add(static_cast<std::uint64_t>(took.count()), std::memory_order_relaxed);
  }
  void reset() noexcept {
    for (auto& bucket : buckets_) bucket.store(0, std::memory_order_relaxed);
    count_.store(0, std::memory_order_relaxed);
    sum_ns_.store(0, std::memory_order_relaxed);
  }

  static constexpr double bound(std::size_t bucket) { return bounds[bucket]; }
  // Returns the count of one bucket. The lower buckets are not included.
  std::uint64_t in_bucket(std::size_t bucket) const noexcept { return buckets_[bucket].load(std::memory_order_relaxed); }
  std::uint64_t count() const noexcept { return count_.load(std::memory_order_relaxed); }
  double sum_seconds() const noexcept { return static_cast<double>(sum_ns_.load(std::memory_order_relaxed)) / 1e9; }

 private:
  std::array<std::atomic<std::uint64_t>, kSize> buckets_{};
  std::atomic<std::uint64_t> count_{0};
  std::atomic<std::uint64_t> sum_ns_{0};
};

}  // namespace backplane
