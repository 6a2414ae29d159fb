// Counters, gauges and histograms of plugins. The host exposes them at /metrics in the Prometheus format.
//
//   static Metric& calls = Metric::counter("apiserver_things_total", "Things by result.", {"result"});
//   calls.add({"success"});
//
// A process may run several servers: a metric exists once, its values once for each server (metric_registry.hpp).
// Thread-safety: any thread. Counting waits only while a series of that metric is created or forgotten.
// Lifetime:      metrics live as long as the process and values as long as the server, so they survive the plugin's objects.
// Errors:        none; values of label combinations past kMostSeries of one metric are not counted.
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
  // Limit of series per metric. It bounds memory when a label value comes from a client.
  static constexpr std::size_t kMostSeries = 10'000;

  // The metric with this name, created by the first call. Later calls return the same metric and ignore `help`, `labels` and `bounds`.
  // Follow the Prometheus naming rules; upstream's name if upstream has the metric.
  static Metric& counter(std::string_view name, std::string_view help, std::vector<std::string> labels);
  static Metric& gauge(std::string_view name, std::string_view help, std::vector<std::string> labels);
  // `bounds`: upper bounds of the buckets, ascending, without +Inf.
  static Metric& histogram(std::string_view name, std::string_view help, std::vector<std::string> labels, std::vector<double> bounds);

  // `values`: one for each label, in their order.
  void add(std::initializer_list<std::string_view> values, double amount = 1);    // counters
  void set(std::initializer_list<std::string_view> values, double value);         // gauges
  void observe(std::initializer_list<std::string_view> values, double measured);  // histograms
  void forget(std::initializer_list<std::string_view> values);                    // drops the series: its subject no longer exists

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
  // Snapshots of all metrics, sorted by name, with the values of the calling thread's server; on a thread that belongs to no server, with
  // those of all servers. A metric without any series is left out.
  static std::vector<Snapshot> all();

  Metric(const Metric&) = delete;
  Metric& operator=(const Metric&) = delete;
  // Used by counter(), gauge() and histogram(). `empty`: name, help, kind, labels and bounds, without series.
  explicit Metric(Snapshot empty);
  ~Metric();

 private:
  struct Cells;
  Snapshot snapshot() const;

  const std::unique_ptr<Cells> cells_;
};

// `count` bounds: first, first·factor, first·factor² … (prometheus.ExponentialBuckets).
std::vector<double> exponential_bounds(double first, double factor, std::size_t count);

}  // namespace BACKPLANE_API
