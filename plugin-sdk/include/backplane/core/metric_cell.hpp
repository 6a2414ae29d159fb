// One series of a Metric, for what is counted with every request: found once, then counted without a look-up.
//
// Thread-safety: any thread; relaxed atomics.
// Lifetime:      a cell lives until its series is forgotten, or its metric goes.
// Errors:        past Metric::kMostSeries there is no cell.
#pragma once

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string_view>
#include <vector>

#include "backplane/core/metrics.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

class MetricCell {
 public:
  // `values`: one for each label.  Null past Metric::kMostSeries.
  static MetricCell* of(Metric& metric, std::initializer_list<std::string_view> values);

  void add(double amount = 1) noexcept { value_.fetch_add(amount, std::memory_order_relaxed); }  // counters and gauges
  void set(double value) noexcept { value_.store(value, std::memory_order_relaxed); }            // gauges
  void observe(double measured) noexcept;                                                        // histograms

  // `bounds`: of a histogram's buckets, which outlive the cell; null: no histogram.
  explicit MetricCell(const std::vector<double>* bounds);
  ~MetricCell();
  MetricCell(const MetricCell&) = delete;
  MetricCell& operator=(const MetricCell&) = delete;

  // ---- for the metric
  void reset() noexcept;
  Metric::Series series() const;

 private:
  const std::vector<double>* const bounds_;
  std::atomic<double> value_{0};
  const std::unique_ptr<std::atomic<std::uint64_t>[]> buckets_;  // the last: above all bounds
};

// A counter or a histogram begins again at nothing: a series is shown again when it is counted again.  Gauges stay as they are.
void reset_metric(Metric& metric);

}  // namespace BACKPLANE_API
