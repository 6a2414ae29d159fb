// The series of one metric in the order of the exposition, for a reader that reads them many times: a view remembers the values that it
// has read and reports which of them have changed. A reading copies neither labels nor values.
//
//   MetricView view(*MetricView::metrics().front());
//   const MetricView::Reading reading = view.read();
//   for (std::size_t i = 0; i < reading.size(); ++i) …
//
// Thread-safety: a view belongs to one thread at a time. While a Reading exists, no series of the metric can be created or forgotten, and
//                threads that want to do so wait: do not hold one across a co_await. Counting continues.
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
  // The position in the previous reading of a series that the previous reading did not have.
  static constexpr std::uint32_t kNew = 0xffffffff;

  // All metrics of the process, sorted by name.
  static std::vector<const Metric*> metrics();

  explicit MetricView(const Metric& metric);
  ~MetricView();
  MetricView(const MetricView&) = delete;
  MetricView& operator=(const MetricView&) = delete;

  // Name, help, kind, labels and bounds, without series.
  const Metric::Snapshot& about() const noexcept;

  // Locks the series that the calling thread's server exposes (as Metric::all(): those of the process and of the server), sorted by their
  // label values, and compares them with the previous reading.
  class Reading;
  [[nodiscard]] Reading read();

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

class MetricView::Reading {
 public:
  // For MetricView::read(). The destructor releases the locks.
  explicit Reading(State& state);
  ~Reading();
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;

  // The number of series; `series` of the functions below is less than this.
  std::size_t size() const noexcept;
  // The position of each series in the previous reading, ascending, kNew for new ones. Empty: the previous reading had the same series.
  std::span<const std::uint32_t> former() const noexcept;
  // 1 for each series whose value differs from that of the previous reading, 0 for others and for new ones.
  std::span<const std::uint8_t> changed() const noexcept;

  // The label values of a series, each followed by a zero byte; empty values at the end are left out.
  std::string_view labels(std::size_t series) const noexcept;
  // False: the series has not been counted since a reset, so that the exposition leaves it out.
  bool exposed(std::size_t series) const noexcept;
  // The value; of a histogram the sum. If process and server both have the series: the sum of both, for a gauge the value of the server.
  double value(std::size_t series) const noexcept;
  // Sets `counts`, one for each bound and one for what is above all bounds, to the counts of a histogram's buckets.
  void buckets(std::size_t series, std::span<std::uint64_t> counts) const noexcept;

 private:
  State& state_;
};

}  // namespace BACKPLANE_API
