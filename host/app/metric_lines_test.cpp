#include "app/metric_lines.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "app/sample_text.hpp"

namespace backplane {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Type = MetricLines::Type;

std::string expected(const MetricFamily& family) {
  std::string out;
  append_family(out, family);
  return out;
}

TEST(MetricLines, ValuesAreThoseOfSamples) {
  MetricFamily family{"n_total", "How\nmany \\.", MetricType::Counter, {}};
  const MetricLines lines("n_total", "How\nmany \\.", Type::kCounter, {"a", "b"});
  std::string text = lines.head();
  for (const double value : {0.0, 12.0, 1e6, 0.5, -3.25, static_cast<double>(INFINITY)}) {
    ClientMetric& metric = family.metric.emplace_back();
    metric.label = {{"a", "x \"y\" \\ \n"}, {"b", ""}};
    metric.counter.value = value;
    lines.append_value(text, std::string_view("x \"y\" \\ \n\0", 10), value);
  }
  EXPECT_EQ(text, expected(family));
}

TEST(MetricLines, AFamilyWithoutLabelsHasNoBraces) {
  const MetricLines gauge("up", "Whether.", Type::kGauge, {});
  std::string text = gauge.head();
  gauge.append_value(text, {}, 1);
  EXPECT_EQ(text, "# HELP up Whether.\n# TYPE up gauge\nup 1\n");
  const MetricLines histogram("h", "H.", Type::kHistogram, {}, std::vector<double>{1});
  text.clear();
  histogram.append_histogram(text, {}, 2.5, std::vector<std::uint64_t>{1, 1});
  EXPECT_EQ(text, "h_bucket{le=\"1\"} 1\nh_bucket{le=\"+Inf\"} 2\nh_sum 2.5\nh_count 2\n");
  const MetricLines summary("s", "S.", Type::kSummary, {});
  text.clear();
  summary.append_summary(text, {}, 0.5, 2);
  EXPECT_EQ(text, "s_sum 0.5\ns_count 2\n");
}

TEST(MetricLines, HistogramsAndSummariesAreThoseOfSamples) {
  const std::vector<double> bounds = {0.005, 1, 2.5, 1000, 1e6};
  const std::vector<std::uint64_t> counts = {0, 3, 999'996, 1, 0, 7};
  ClientMetric metric;
  metric.label = {{"verb", "GET"}, {"group", ""}, {"resource", "pods"}};
  metric.histogram.sample_sum = 1234567.5;
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < bounds.size(); ++i) metric.histogram.bucket.push_back({below += counts[i], bounds[i]});
  metric.histogram.sample_count = below + counts.back();
  metric.summary.sample_count = metric.histogram.sample_count;
  metric.summary.sample_sum = metric.histogram.sample_sum;
  constexpr std::string_view kValues("GET\0\0pods\0", 10);
  const std::vector<std::string> labels = {"verb", "group", "resource"};

  const MetricLines histogram("h_seconds", "H.", Type::kHistogram, labels, bounds);
  std::string text = histogram.head();
  for (int i = 0; i < 2; ++i) histogram.append_histogram(text, kValues, metric.histogram.sample_sum, counts);
  EXPECT_EQ(text, expected({"h_seconds", "H.", MetricType::Histogram, {metric, metric}}));

  const MetricLines summary("s_seconds", "S.", Type::kSummary, labels);
  text = summary.head();
  summary.append_summary(text, kValues, metric.summary.sample_sum, metric.summary.sample_count);
  EXPECT_EQ(text, expected({"s_seconds", "S.", MetricType::Summary, {metric}}));
}

TEST(MetricLines, ABoundOfInfinityIsNotRepeated) {
  const MetricLines lines("h", "H.", Type::kHistogram, {"a"}, std::vector<double>{1, INFINITY});
  std::string text;
  lines.append_histogram(text, std::string_view("x\0", 2), 3, std::vector<std::uint64_t>{1, 1, 0});
  EXPECT_EQ(text, "h_bucket{a=\"x\",le=\"1\"} 1\nh_bucket{a=\"x\",le=\"+Inf\"} 2\nh_sum{a=\"x\"} 3\nh_count{a=\"x\"} 2\n");
}

}  // namespace
}  // namespace backplane
