// The demand of a level for seats over time: average, standard deviation and maximum since the last query.
//
// The sums are exact without a lock. Each change at time t from x to y adds (x − y)·t to first_ and (x² − y²)·t to second_. take() adds the
// current value multiplied by the current time. Sums may wrap; the difference of two sums is correct.
// Thread-safety: changed() from any thread; take() from one thread at a time.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>

namespace backplane::flowcontrol {

class Demand {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit Demand(Time begin) : last_(units(begin)) {}

  void changed(std::uint64_t from, std::uint64_t to, Time now) noexcept {
    const std::uint64_t time = units(now);
    first_.fetch_add((from - to) * time, std::memory_order_relaxed);
    second_.fetch_add((from * from - to * to) * time, std::memory_order_relaxed);
    std::uint64_t most = most_.load(std::memory_order_relaxed);
    while (to > most && !most_.compare_exchange_weak(most, to, std::memory_order_relaxed)) continue;
  }

  struct Period {
    bool passed = false;  // false: no time has passed, so only `most` is set
    double average = 0;
    double deviation = 0;
    double most = 0;
  };
  // The period since the last call; `current`: the present demand.
  Period take(std::uint64_t current, Time now) noexcept {
    const std::uint64_t time = units(now);
    const std::uint64_t first = first_.load(std::memory_order_relaxed) + current * time;
    const std::uint64_t second = second_.load(std::memory_order_relaxed) + current * current * time;
    Period period;
    period.most = static_cast<double>(std::max(current, most_.exchange(current, std::memory_order_relaxed)));
    period.passed = time != last_;
    if (period.passed) {
      const auto length = static_cast<double>(time - last_);
      period.average = std::max(0.0, static_cast<double>(static_cast<std::int64_t>(first - last_first_)) / length);
      const double square = static_cast<double>(static_cast<std::int64_t>(second - last_second_)) / length;
      period.deviation = std::sqrt(std::max(0.0, square - period.average * period.average));
    }
    last_ = time;
    last_first_ = first;
    last_second_ = second;
    return period;
  }

 private:
  // One unit is 256 ns, so that the sums of a few seats over years, or of many seats over seconds, fit into 64 bits.
  static std::uint64_t units(Time time) noexcept { return static_cast<std::uint64_t>(time.time_since_epoch().count()) >> 8; }

  std::atomic<std::uint64_t> first_{0};
  std::atomic<std::uint64_t> second_{0};
  std::atomic<std::uint64_t> most_{0};
  std::uint64_t last_;
  std::uint64_t last_first_ = 0;
  std::uint64_t last_second_ = 0;
};

}  // namespace backplane::flowcontrol
