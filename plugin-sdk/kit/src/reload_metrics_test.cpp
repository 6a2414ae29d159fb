#include "backplane/kit/reload_metrics.hpp"

#include <gtest/gtest.h>

#include "backplane/kit/content_hash.hpp"

namespace backplane::kit {
namespace {

std::vector<std::vector<std::string>> labels_of(std::string_view name) {
  std::vector<std::vector<std::string>> out;
  for (const auto& metric : Metric::all()) {
    if (metric.name != name) continue;
    for (const auto& [labels, series] : metric.series) out.push_back(labels);
  }
  return out;
}

TEST(ContentHash, IsThatOfSha256) {
  EXPECT_EQ(content_hash(""), "");
  EXPECT_EQ(content_hash("abc"), "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(content_digest("abc")[0], 0xba);
  EXPECT_NE(content_digest(""), content_digest("a"));
}

TEST(ReloadMetricsTest, OneConfigurationIsInEffectAndReloadsAreCounted) {
  ReloadMetrics metrics({"test_reload", "total", "time", "info"}, "server");
  metrics.in_effect("a");
  metrics.in_effect("b");
  EXPECT_EQ(labels_of("test_reload_last_config_info"), (std::vector<std::vector<std::string>>{{"server", "b"}}));
  EXPECT_TRUE(labels_of("test_reload_automatic_reloads_total").empty());
  metrics.reloaded(true);
  metrics.reloaded(false);
  const std::vector<std::vector<std::string>> both = {{"failure", "server"}, {"success", "server"}};
  EXPECT_EQ(labels_of("test_reload_automatic_reloads_total"), both);
  EXPECT_EQ(labels_of("test_reload_automatic_reload_last_timestamp_seconds"), both);
}

}  // namespace
}  // namespace backplane::kit
