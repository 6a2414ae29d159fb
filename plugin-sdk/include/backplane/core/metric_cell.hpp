// One time series of a Metric. A caller that counts on every request looks up the series once and stores the cell, so that counting needs
// no look-up.
//
// Thread-safety: any thread; relaxed atomics.
// Lifetime:      a cell lives until Metric::forget() drops its series, or until the metric is destroyed.
// Errors:        of() returns null if the metric already has Metric::kMostSeries series.
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

// The bounds of a histogram's buckets, shared by the cells of the histogram. The SDK defines this type.
struct HistogramBounds;

// A cell belongs to the server of the thread that calls of(). Store the pointer in an object of that server, not in a static variable.
//
//   hits_(MetricCell::of(lookups(), {"hit"}))  // once, in a constructor
//   if (hits_ != nullptr) hits_->add();        // for each request
class MetricCell {
 public:
  // Returns the cell of the series with these label values; creates the series if it is absent. `values`: one for each label of the metric,
  // in the order of the labels. Null if the metric already has Metric::kMostSeries series.
  static MetricCell* of(Metric& metric, std::initializer_list<std::string_view> values);

  void add(double amount = 1) noexcept { value_.fetch_add(amount, std::memory_order_relaxed); }  // counters and gauges
  void set(double value) noexcept { value_.store(value, std::memory_order_relaxed); }            // gauges
  void observe(double measured) noexcept;                                                        // histograms

  // For Metric only. `bounds`: the histogram's bounds, which must outlive the cell; null for a counter or a gauge.
  explicit MetricCell(HistogramBounds* bounds);
  ~MetricCell();
  MetricCell(const MetricCell&) = delete;
  MetricCell& operator=(const MetricCell&) = delete;

  // ---- used by Metric and by the /metrics handler
  //
  // Sets value and buckets to 0.
  void reset() noexcept;
  // Returns a copy of value, count and buckets. A concurrent observation may be in one of them and not yet in another.
  Metric::Series series() const;
  // The same data without a copy: the value, and the counts of a histogram's buckets. The last bucket counts observations above all bounds.
  // buckets() is null for a counter or a gauge. If a reader reads the buckets after the value, the buckets contain every observation that
  // the value contains.
  double value() const noexcept { return value_.load(std::memory_order_acquire); }
  const std::atomic<std::uint64_t>* buckets() const noexcept { return buckets_.get(); }

 private:
  HistogramBounds* const bounds_;
  std::atomic<double> value_{0};
  const std::unique_ptr<std::atomic<std::uint64_t>[]> buckets_;  // the last one counts observations above all bounds
};

// Resets a counter or a histogram, as upstream's DELETE /metrics does: a series is exposed again only after it has been counted again.
// Without effect for gauges.
void reset_metric(Metric& metric);

}  // namespace BACKPLANE_API
