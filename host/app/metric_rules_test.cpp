#include "app/metric_rules.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace backplane {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

ClientMetric sample(std::vector<std::pair<std::string, std::string>> labels, double count) {
  ClientMetric metric;
  for (auto& [name, value] : labels) {
    ClientMetric::Label label;
    label.name = name;
    label.value = value;
    metric.label.push_back(label);
  }
  metric.counter.value = count;
  metric.histogram.sample_count = static_cast<std::uint64_t>(count);
  metric.histogram.bucket.resize(1);
  metric.histogram.bucket[0].cumulative_count = static_cast<std::uint64_t>(count);
  return metric;
}

std::vector<MetricFamily> families() {
  MetricFamily requests{"requests_total", "", MetricType::Counter, {}};
  requests.metric = {sample({{"code", "200"}, {"verb", "GET"}}, 5), sample({{"code", "404"}, {"verb", "GET"}}, 2),
                     sample({{"code", "500"}, {"verb", "GET"}}, 1), sample({{"code", "500"}, {"verb", "PUT"}}, 7)};
  return {requests, MetricFamily{"up", "", MetricType::Gauge, {sample({}, 1)}}};
}

std::string text(const MetricFamily& family) {
  std::string out;
  for (const auto& metric : family.metric) {
    for (const auto& label : metric.label) out += label.name + "=" + label.value + " ";
    out +=
        std::to_string(static_cast<int>(metric.counter.value)) + "/" + std::to_string(metric.histogram.bucket[0].cumulative_count) + "; ";
  }
  return out;
}

TEST(MetricRules, HiddenMetricsAreShownOnDemandWithTheValuesOfThoseThatReplaceThem) {
  std::vector<MetricFamily> shown = {MetricFamily{"etcd_bookmark_total", "", MetricType::Counter, {sample({{"resource", "pods"}}, 3)}}};
  MetricRules::make({})->apply(shown);
  EXPECT_EQ(shown.size(), 1u);
  MetricRules::make({{}, {}, {}, "1.35"})->apply(shown);
  ASSERT_EQ(shown.size(), 2u);
  EXPECT_EQ(shown[1].name, "etcd_bookmark_counts");
  EXPECT_EQ(shown[1].metric.at(0).gauge.value, 3);
  EXPECT_EQ(shown[1].metric.at(0).label.at(0).value, "pods");
  MetricRules::make({{"etcd_bookmark_counts"}, {}, {}, "1.35"})->apply(shown);
  EXPECT_EQ(shown.size(), 1u) << "what is disabled is not shown at all";
}

TEST(MetricRules, WithoutAnyEverythingIsShown) {
  auto all = families();
  MetricRules().apply(all);
  EXPECT_EQ(all.size(), 2u);
  EXPECT_EQ(text(all[0]), text(families()[0]));
}

TEST(MetricRules, DisabledMetricsAreNotShown) {
  auto all = families();
  auto rules = MetricRules::make({{"requests_total", "no_such_metric"}, {}, {}, {}});
  ASSERT_TRUE(rules.ok());
  rules->apply(all);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].name, "up");
}

TEST(MetricRules, OtherValuesOfAListedLabelAreOne) {
  auto all = families();
  auto rules = MetricRules::make({{}, {"requests_total,code=200,201"}, {}, {}});
  ASSERT_TRUE(rules.ok()) << rules.status().message();
  rules->apply(all);
  EXPECT_EQ(text(all[0]), "code=200 verb=GET 5/5; code=unexpected verb=GET 3/3; code=unexpected verb=PUT 7/7; ");
}

TEST(MetricRules, TheManifestIsReadUnlessTheFlagIsGiven) {
  const std::string path = std::filesystem::temp_directory_path() / ("labels-" + std::to_string(getpid()) + ".yaml");
  std::ofstream(path) << "requests_total,verb: PUT\n";
  auto all = families();
  MetricRules::make({{}, {}, path, {}})->apply(all);
  EXPECT_EQ(all[0].metric[0].label[1].value, "unexpected");
  all = families();
  MetricRules::make({{}, {"requests_total,code=200"}, path, {}})->apply(all);
  EXPECT_EQ(all[0].metric[0].label[1].value, "GET");
  std::ofstream(path) << "requests_total: PUT\n";
  EXPECT_FALSE(MetricRules::make({{}, {}, path, {}}).ok());
  std::ofstream(path) << "requests_total,verb: [PUT]\n";
  EXPECT_FALSE(MetricRules::make({{}, {}, path, {}}).ok());
  std::filesystem::remove(path);
}

TEST(MetricRules, AKeyNamesAMetricAndALabel) {
  auto rules = MetricRules::make({{}, {"requests_total=200"}, {}, {}});
  ASSERT_FALSE(rules.ok());
  EXPECT_EQ(rules.status().message(),
            "--allow-metric-labels must have a list of kv pair with format `metricName,labelName=labelValue, labelValue,...`, got "
            "\"requests_total\"");
}

}  // namespace
}  // namespace backplane
