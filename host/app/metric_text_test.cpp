#include "app/metric_text.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "app/sample_text.hpp"

namespace backplane {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

std::string number(double value) {
  std::string out;
  append_go_number(out, value);
  return out;
}

std::string joined(const std::vector<MetricFamily>& families) {
  std::string out;
  for (const std::string& piece : metrics_as_text(families)) out += piece;
  return out;
}

TEST(MetricText, NumbersAreThoseOfGo) {
  // The texts are those that strconv.FormatFloat(x, 'g', -1, 64) prints.
  const std::pair<double, const char*> rows[] = {{0, "0"},
                                                 {1, "1"},
                                                 {-3, "-3"},
                                                 {0.1, "0.1"},
                                                 {0.005, "0.005"},
                                                 {0.0001, "0.0001"},
                                                 {0.00001, "1e-05"},
                                                 {10e-9, "1e-08"},
                                                 {999999, "999999"},
                                                 {1000000, "1e+06"},
                                                 {1234567, "1.234567e+06"},
                                                 {123456.75, "123456.75"},
                                                 {1.7643288e+09, "1.7643288e+09"},
                                                 {1e100, "1e+100"},
                                                 {INFINITY, "+Inf"},
                                                 {-INFINITY, "-Inf"},
                                                 {std::nan(""), "NaN"}};
  for (const auto& [value, text] : rows) EXPECT_EQ(number(value), text);
}

TEST(MetricText, AHistogramEndsWithSumAndCount) {
  MetricFamily family{"sizes", "Sizes.\nIn \\bytes", MetricType::Histogram, {}};
  ClientMetric& metric = family.metric.emplace_back();
  metric.label = {{"verb", "a \"quoted\" \\ one\n"}};
  metric.histogram.sample_count = 3;
  metric.histogram.sample_sum = 2000000.5;
  metric.histogram.bucket = {{1, 1000}, {2, 1000000}};
  EXPECT_EQ(joined({family}),
            "# HELP sizes Sizes.\\nIn \\\\bytes\n# TYPE sizes histogram\n"
            "sizes_bucket{verb=\"a \\\"quoted\\\" \\\\ one\\n\",le=\"1000\"} 1\n"
            "sizes_bucket{verb=\"a \\\"quoted\\\" \\\\ one\\n\",le=\"1e+06\"} 2\n"
            "sizes_bucket{verb=\"a \\\"quoted\\\" \\\\ one\\n\",le=\"+Inf\"} 3\n"
            "sizes_sum{verb=\"a \\\"quoted\\\" \\\\ one\\n\"} 2.0000005e+06\n"
            "sizes_count{verb=\"a \\\"quoted\\\" \\\\ one\\n\"} 3\n");
}

TEST(MetricText, ALongTextIsSplitBetweenLines) {
  MetricFamily family{"n", "How many.", MetricType::Counter, {}};
  family.metric.resize(50'000);
  const auto pieces = metrics_as_text({family});
  EXPECT_GT(pieces.size(), 2U);
  for (const std::string& piece : pieces) {
    EXPECT_TRUE(piece.empty() || piece.back() == '\n');
    EXPECT_LT(piece.size(), std::size_t{68} << 10);
  }
}

TEST(MetricText, ValuesWithoutLabelsHaveNoBraces) {
  MetricFamily gauge{"up", "Whether.", MetricType::Gauge, {}}, counter{"n", "How many.", MetricType::Counter, {}};
  gauge.metric.emplace_back().gauge.value = 1;
  counter.metric.emplace_back().counter.value = 7;
  counter.metric.front().label = {{"a", "b"}, {"c", ""}};
  MetricFamily summary{"s", "Sum.", MetricType::Summary, {}};
  summary.metric.emplace_back().summary.sample_count = 2;
  summary.metric.front().summary.sample_sum = 0.5;
  EXPECT_EQ(joined({gauge, counter, summary}),
            "# HELP up Whether.\n# TYPE up gauge\nup 1\n# HELP n How many.\n# TYPE n counter\nn{a=\"b\",c=\"\"} 7\n"
            "# HELP s Sum.\n# TYPE s summary\ns_sum 0.5\ns_count 2\n");
}

TEST(MetricText, SamplesOfAFamilyMayDifferInTheirLabels) {
  MetricFamily family{"n", "How many.", MetricType::Counter, {}};
  for (const char* name : {"a", "b", "b"}) family.metric.emplace_back().label = {{name, "x"}};
  family.metric.emplace_back();
  EXPECT_EQ(joined({family}), "# HELP n How many.\n# TYPE n counter\nn{a=\"x\"} 0\nn{b=\"x\"} 0\nn{b=\"x\"} 0\nn 0\n");
}

}  // namespace
}  // namespace backplane
