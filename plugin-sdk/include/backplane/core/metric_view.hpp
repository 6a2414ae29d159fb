// Reads the series of one metric repeatedly, in the order of the /metrics output. A MetricView stores the values of its last reading and
// reports which values have changed since then. A reading copies neither labels nor values.
//
//   MetricView view(*MetricView::metrics().front());
//   const MetricView::Reading reading = view.read();
//   for (std::size_t i = 0; i < reading.size(); ++i) …
//
// Thread-safety: a view belongs to one thread at a time. While a Reading exists, threads that create or forget series of the metric wait:
//                do not keep a Reading across a co_await. Counting in existing series continues.
// Lifetime:      the metric outlives the view, the view outlives its readings.
// Errors:        none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "backplane/core/metrics.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

class MetricView {
 public:
  // former() contains this for a series that was not in the previous reading.
  static constexpr std::uint32_t kNew = 0xffffffff;

  // All metrics of the process, sorted by name.
  static std::vector<const Metric*> metrics();

  explicit MetricView(const Metric& metric);
  ~MetricView();
  MetricView(const MetricView&) = delete;
  MetricView& operator=(const MetricView&) = delete;

  // The name, help, kind, labels and bounds of the metric; its `series` is empty.
  const Metric::Snapshot& about() const noexcept;

  // Locks the series that the calling thread's server exposes: those of the process and those of the server, as in Metric::all(). Sorts the
  // series by their label values and compares their values with the previous reading.
  class Reading;
  [[nodiscard]] Reading read();

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

class MetricView::Reading {
 public:
  // For MetricView::read() only. The destructor releases the locks.
  explicit Reading(State& state);
  ~Reading();
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;

  // The number of series. The argument `series` of the functions below must be less than this number.
  std::size_t size() const noexcept;
  // The position of each series in the previous reading, in ascending order, and kNew for new series. Empty if the previous reading had the
  // same series.
  std::span<const std::uint32_t> former() const noexcept;
  // For each series: 1 if its value differs from the previous reading; 0 if it does not, or if the series is new.
  std::span<const std::uint8_t> changed() const noexcept;

  // The label values of a series, each followed by a zero byte; empty values at the end are left out.
  std::string_view labels(std::size_t series) const noexcept;
  // False if the series has not been counted since a reset: the /metrics output omits such a series.
  bool exposed(std::size_t series) const noexcept;
  // The value; for a histogram, the sum of its observations. If both the process and the server have the series: the sum of the two values;
  // for a gauge, the value of the server.
  double value(std::size_t series) const noexcept;
  // Writes the counts of a histogram's buckets to `counts`, which has one element for each bound and one for observations above all bounds.
  void buckets(std::size_t series, std::span<std::uint64_t> counts) const noexcept;

 private:
  State& state_;
};

}  // namespace BACKPLANE_API
