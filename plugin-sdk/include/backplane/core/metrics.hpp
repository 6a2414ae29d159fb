// Numbers that plugins measure; the host shows them at /metrics.
//
//   static Metric& calls = Metric::counter("apiserver_things_total", "Things by result.", {"result"});
//   calls.add({"success"});
//
// Thread-safety: any thread; counts of one metric do not wait for each other, only for a series that is made or forgotten.
// Lifetime:      of the process: what has been counted stays when a plugin's objects go.
// Errors:        label values past kMostSeries of one metric are not counted.
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

class Metric {
 public:
  static constexpr std::size_t kMostSeries = 10'000;

  // The metric of that name, made at the first ask; help, labels and bounds are those of the first.
  static Metric& counter(std::string_view name, std::string_view help, std::vector<std::string> labels);
  static Metric& gauge(std::string_view name, std::string_view help, std::vector<std::string> labels);
  // `bounds`: upper ends of the buckets, ascending, without the infinite one.
  static Metric& histogram(std::string_view name, std::string_view help, std::vector<std::string> labels, std::vector<double> bounds);

  // `values`: one for each label.
  void add(std::initializer_list<std::string_view> values, double amount = 1);    // counters
  void set(std::initializer_list<std::string_view> values, double value);         // gauges
  void observe(std::initializer_list<std::string_view> values, double measured);  // histograms
  void forget(std::initializer_list<std::string_view> values);                    // what they stand for has gone

  // ---- for who shows them
  enum class Kind : unsigned char { kCounter, kGauge, kHistogram };
  struct Series {
    double value = 0;                    // of a histogram: the sum
    std::uint64_t count = 0;             // histograms
    std::vector<std::uint64_t> buckets;  // histograms: in each, not below it
  };
  struct Snapshot {
    std::string name;
    std::string help;
    Kind kind = Kind::kCounter;
    std::vector<std::string> labels;
    std::vector<double> bounds;
    std::map<std::vector<std::string>, Series> series;  // by the values of the labels
  };
  // All metrics, by name; those that have never been counted are left out.
  static std::vector<Snapshot> all();

  Metric(const Metric&) = delete;
  Metric& operator=(const Metric&) = delete;
  // `empty`: what it is, without series.
  explicit Metric(Snapshot empty);
  ~Metric();

 private:
  struct Cells;
  Snapshot snapshot() const;

  const std::unique_ptr<Cells> cells_;
};

// Bounds that grow from `first` by `factor`.
std::vector<double> exponential_bounds(double first, double factor, std::size_t count);

}  // namespace BACKPLANE_API
