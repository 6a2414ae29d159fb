// Counters, gauges and histograms of plugins. The host exposes them at /metrics in the Prometheus format.
//
//   static Metric& calls = Metric::counter("apiserver_things_total", "Things by result.", {"result"});
//   calls.add({"success"});
//
// A process may run several servers. A metric exists once in the process; each server has its own values of the metric
// (metric_registry.hpp).
//
// Thread-safety: any thread. Counting waits only while a series of the same metric is created or forgotten.
// Lifetime:      a metric lives as long as the process. Its values last as long as their server, or until the host has unloaded every
//                plugin that uses the metric. A plugin that replaces another build continues the values of the metrics that both use.
// Errors:        none. Once a metric has kMostSeries series, values with other label combinations are not counted.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// One metric family, with one series per combination of label values.
class Metric {
 public:
  // The maximum number of series of one metric. It bounds memory if clients determine a label value.
  static constexpr std::size_t kMostSeries = 10'000;

  // Returns the metric with this name, kind, labels and bounds. The first call creates it; later calls ignore `help`. If several metrics
  // have the same name, /metrics has the one that was created first and is still in use: a new build of a plugin may change the labels of a
  // metric. Names follow the Prometheus naming rules; use upstream's name if upstream has the metric.
  static Metric& counter(std::string_view name, std::string_view help, std::vector<std::string> labels);
  static Metric& gauge(std::string_view name, std::string_view help, std::vector<std::string> labels);
  // `bounds`: upper bounds of the buckets, ascending, without +Inf.
  static Metric& histogram(std::string_view name, std::string_view help, std::vector<std::string> labels, std::vector<double> bounds);

  // `values`: one for each label, in their order.
  void add(std::initializer_list<std::string_view> values, double amount = 1);    // counters
  void set(std::initializer_list<std::string_view> values, double value);         // gauges
  void observe(std::initializer_list<std::string_view> values, double measured);  // histograms
  void forget(std::initializer_list<std::string_view> values);  // removes the series, because the thing that it measures no longer exists

  // ---- for the exposition
  enum class Kind : unsigned char { kCounter, kGauge, kHistogram };
  // The current values of one series.
  struct Series {
    double value = 0;                    // of a histogram: the sum
    std::uint64_t count = 0;             // histograms
    std::vector<std::uint64_t> buckets;  // histograms: the count of each bucket, not cumulative
  };
  // A metric with all its series.
  struct Snapshot {
    std::string name;
    std::string help;
    Kind kind = Kind::kCounter;
    std::vector<std::string> labels;
    std::vector<double> bounds;
    std::map<std::vector<std::string>, Series> series;  // by the values of the labels
  };
  // Returns snapshots of all metrics, sorted by name, with the values of the process and of the calling thread's server. On a thread that
  // belongs to no server, the values are those of the process and of all servers. Omits a metric without series.
  static std::vector<Snapshot> all();

  Metric(const Metric&) = delete;
  Metric& operator=(const Metric&) = delete;
  // For counter(), gauge() and histogram() only. `empty`: name, help, kind, labels and bounds, without series.
  explicit Metric(Snapshot empty);
  ~Metric();

 private:
  struct Cells;
  Snapshot snapshot() const;

  const std::unique_ptr<Cells> cells_;
};

// Returns `count` bounds: first, first·factor, first·factor² … (prometheus.ExponentialBuckets).
std::vector<double> exponential_bounds(double first, double factor, std::size_t count);

}  // namespace BACKPLANE_API
