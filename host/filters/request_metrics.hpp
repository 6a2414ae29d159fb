// What /metrics says about requests: how many, by verb and code, and how long they took.
//
// Thread-safety: relaxed atomics; any thread.  A scrape sees each number as it is at that moment.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string_view>

#include "filters/access_metrics.hpp"
#include "filters/histogram.hpp"

namespace backplane {

class RequestMetrics {
 public:
  // Verbs as labels; everything else is OTHER.
  static constexpr std::array<std::string_view, 10> kVerbs{
      "GET", "LIST", "WATCH", "CREATE", "UPDATE", "PATCH", "DELETE", "DELETECOLLECTION", "POST", "OTHER"};
  static constexpr int kFirstCode = 100;
  static constexpr int kCodes = 500;
  // Upper bounds in seconds.
  static constexpr std::array<double, 9> kBuckets{0.001, 0.005, 0.025, 0.1, 0.25, 1, 5, 30, 60};

  // `verb` as in RequestInfo, in lower case.
  void count(std::string_view verb, int code, std::chrono::nanoseconds took) noexcept;

  // Everything is 0 again; what is counted meanwhile may be lost.
  void reset();

  std::uint64_t total(std::size_t verb, int code) const noexcept {
    return totals_[verb][static_cast<std::size_t>(code - kFirstCode)].load(std::memory_order_relaxed);
  }
  using Latency = Histogram<kBuckets>;
  const Latency& latency(std::size_t verb) const noexcept { return latencies_[verb]; }
  static std::size_t verb_index(std::string_view verb) noexcept;

  AccessMetrics access;

 private:
  std::array<std::array<std::atomic<std::uint64_t>, kCodes>, kVerbs.size()> totals_{};
  std::array<Latency, kVerbs.size()> latencies_{};
};

}  // namespace backplane
