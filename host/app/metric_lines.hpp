// The lines of one metric family in Prometheus' text format, without samples in between: labels and values go to the text directly. The
// text of samples (sample_text.hpp) consists of these lines too.
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

  // `bounds`: of a histogram's buckets.
  MetricLines(std::string name, std::string_view help, Type type, const std::vector<std::string>& labels,
              std::span<const double> bounds = {});

  const std::string& name() const noexcept { return name_; }
  // The lines of HELP and TYPE.
  const std::string& head() const noexcept { return head_; }

  // Each appends the lines of one series. `values`: of the labels, each followed by a zero byte; empty ones at the end may be left out.
  void append_value(std::string& out, std::string_view values, double value) const;
  // `counts`: of the buckets, the last above all bounds.
  void append_histogram(std::string& out, std::string_view values, double sum, std::span<const std::uint64_t> counts) const;
  void append_summary(std::string& out, std::string_view values, double sum, std::uint64_t count) const;

 private:
  void append_labels(std::string& out, std::string_view values) const;

  const std::string name_;
  std::string head_;
  std::vector<std::string> labels_;  // `name="` and `",name="`
  std::vector<std::string> bounds_;  // `0.005"} `
  bool has_infinity_ = false;        // among the bounds
};

}  // namespace backplane
