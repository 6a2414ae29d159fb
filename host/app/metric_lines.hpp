// Writes the lines of one metric family in Prometheus' text format. It appends labels and values to the text directly, without objects of
// the type prometheus::ClientMetric. sample_text.hpp writes such objects with the same class.
//
// Thread-safety: const after construction.
// Errors:        none.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/metrics.hpp"

namespace backplane {

class MetricLines {
 public:
  enum class Type : unsigned char { kCounter, kGauge, kHistogram, kSummary };

  // `bounds`: the upper bounds of a histogram's buckets.
  MetricLines(std::string name, std::string_view help, Type type, const std::vector<std::string>& labels,
              std::span<const double> bounds = {});

  const std::string& name() const noexcept { return name_; }
  // The HELP and TYPE lines.
  const std::string& head() const noexcept { return head_; }

  // Each function below appends the lines of one series. `values`: the values of the labels, each followed by a zero byte; empty ones at
  // the end may be left out.
  void append_value(std::string& out, std::string_view values, double value) const;
  // `counts`: one count for each bucket, and at the end the count of values above all bounds.
  void append_histogram(std::string& out, std::string_view values, double sum, std::span<const std::uint64_t> counts) const;
  void append_summary(std::string& out, std::string_view values, double sum, std::uint64_t count) const;

 private:
  void append_labels(std::string& out, std::string_view values) const;

  const std::string name_;
  std::string head_;
  std::vector<std::string> labels_;  // the text before each value: `name="` for the first label, `",name="` for the others
  std::vector<std::string> bounds_;  // the text after `le="`: `0.005"} `
  bool has_infinity_ = false;        // bounds_ has infinity
};

}  // namespace backplane
