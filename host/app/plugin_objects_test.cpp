#include "app/plugin_objects.hpp"

#include <gtest/gtest.h>

#include "app/plugin_metrics.hpp"

namespace backplane {
namespace {

TEST(PluginObjectName, TurnsTheNameOfAPluginIntoADnsName) {
  EXPECT_EQ(plugin_object_name("core"), "core");
  EXPECT_EQ(plugin_object_name("acme.io/widgets"), "widgets.acme.io");
  EXPECT_EQ(plugin_object_name("acme.io/shop/widgets"), "widgets.shop.acme.io");
  EXPECT_EQ(plugin_object_name("Text_file.so"), "text-file.so");
}

TEST(PluginMetrics, RequestsCountForThePluginThatHasInstalledTheGroupVersion) {
  PluginStatus apps, off;
  apps.name = "apps";
  apps.state = PluginState::kCommitted;
  apps.group_versions = {"apps/v1"};
  apps.threads = 2;
  off.name = "off";
  off.group_versions = {"off/v1"};
  Metric::Snapshot total{"apiserver_request_total", "", Metric::Kind::kCounter, {"code", "group", "version"}, {}, {}};
  total.series[{"200", "apps", "v1"}].value = 3;
  total.series[{"500", "apps", "v1"}].value = 1;
  total.series[{"200", "off", "v1"}].value = 7;
  total.series[{"200", "", ""}].value = 9;
  std::vector<prometheus::MetricFamily> families;
  add_plugins(families, {apps, off}, {total});
  double requests = 0;
  std::size_t series = 0;
  for (const auto& family : families) {
    if (family.name == "backplane_plugin_info") {
      EXPECT_EQ(family.metric.size(), 2u);
    }
    if (family.name == "backplane_plugin_threads") {
      ASSERT_EQ(family.metric.size(), 1u);
      EXPECT_EQ(family.metric[0].gauge.value, 2);
    }
    if (family.name != "backplane_plugin_requests_total") continue;
    series = family.metric.size();
    for (const auto& metric : family.metric) requests += metric.counter.value;
  }
  EXPECT_EQ(series, 2u);
  EXPECT_EQ(requests, 4);
}

}  // namespace
}  // namespace backplane
