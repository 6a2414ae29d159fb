#include "app/sample_text.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "app/metric_lines.hpp"
#include "app/metric_text.hpp"

namespace backplane {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

// The families of this server are of these types.
MetricLines::Type type_of(MetricType type) {
  if (type == MetricType::Histogram) return MetricLines::Type::kHistogram;
  if (type == MetricType::Summary) return MetricLines::Type::kSummary;
  return type == MetricType::Counter ? MetricLines::Type::kCounter : MetricLines::Type::kGauge;
}

// Writes the samples of one family. As a rule, all of them have the same labels and bounds.
class SampleLines {
 public:
  explicit SampleLines(const MetricFamily& family) : family_(family) {
    describe(family.metric.empty() ? ClientMetric() : family.metric[0]);
  }

  const std::string& head() const { return lines_->head(); }

  void append(std::string& out, const ClientMetric& metric) {
    if (!is_described(metric)) describe(metric);
    values_.clear();
    for (const auto& label : metric.label) values_.append(label.value).push_back('\0');
    if (family_.type == MetricType::Histogram) return append_histogram(out, metric.histogram);
    if (family_.type == MetricType::Summary) {
      return lines_->append_summary(out, values_, metric.summary.sample_sum, metric.summary.sample_count);
    }
    lines_->append_value(out, values_, family_.type == MetricType::Counter ? metric.counter.value : metric.gauge.value);
  }

 private:
  bool is_described(const ClientMetric& metric) const {
    return std::equal(labels_.begin(), labels_.end(), metric.label.begin(), metric.label.end(),
                      [](const std::string& name, const ClientMetric::Label& label) { return name == label.name; }) &&
           std::equal(bounds_.begin(), bounds_.end(), metric.histogram.bucket.begin(), metric.histogram.bucket.end(),
                      [](double bound, const ClientMetric::Bucket& bucket) { return bound == bucket.upper_bound; });
  }
  void describe(const ClientMetric& metric) {
    labels_.clear();
    bounds_.clear();
    for (const auto& label : metric.label) labels_.push_back(label.name);
    for (const auto& bucket : metric.histogram.bucket) bounds_.push_back(bucket.upper_bound);
    lines_.emplace(family_.name, family_.help, type_of(family_.type), labels_, bounds_);
  }
  // The counts of the buckets in a sample are cumulative.
  void append_histogram(std::string& out, const ClientMetric::Histogram& histogram) {
    counts_.clear();
    std::uint64_t below = 0;
    for (const auto& bucket : histogram.bucket) {
      counts_.push_back(bucket.cumulative_count - below);
      below = bucket.cumulative_count;
    }
    counts_.push_back(histogram.sample_count - below);
    lines_->append_histogram(out, values_, histogram.sample_sum, counts_);
  }

  const MetricFamily& family_;
  std::vector<std::string> labels_;
  std::vector<double> bounds_;
  std::optional<MetricLines> lines_;  // made from labels_ and bounds_
  std::string values_;                // the label values of one sample, as MetricLines expects them
  std::vector<std::uint64_t> counts_;
};

}  // namespace

void append_family(std::string& out, const MetricFamily& family) {
  SampleLines lines(family);
  out.append(lines.head());
  for (const ClientMetric& metric : family.metric) lines.append(out, metric);
}

std::vector<std::string> metrics_as_text(const std::vector<MetricFamily>& families) {
  TextPieces pieces;
  for (const MetricFamily& family : families) {
    SampleLines lines(family);
    pieces.last().append(lines.head());
    for (const ClientMetric& metric : family.metric) {
      lines.append(pieces.last(), metric);
      pieces.cut();
    }
  }
  return pieces.take();
}

}  // namespace backplane
