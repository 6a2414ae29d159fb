#include "app/plugin_metrics.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "app/sample_text.hpp"
#include "backplane/core/metric_cell.hpp"
#include "backplane/core/metric_registry.hpp"

namespace backplane {
namespace {

using prometheus::MetricFamily;

class PluginRequestsTest : public ::testing::Test {
 protected:
  static PluginStatus plugin(std::string name, std::vector<std::string> versions) {
    PluginStatus out;
    out.name = std::move(name);
    out.state = PluginState::kCommitted;
    out.group_versions = std::move(versions);
    return out;
  }
  static std::string text(std::vector<MetricFamily> families) {
    std::sort(families.begin(), families.end(), [](const auto& one, const auto& other) { return one.name < other.name; });
    std::string out;
    for (const MetricFamily& family : families) append_family(out, family);
    return out;
  }
  // The text, after a check that a new PluginRequests shows the same text.
  std::string scrape() {
    requests.set_plugins(plugins);
    requests.read(total_view.about(), total_view.read());
    requests.read(durations_view.about(), durations_view.read());
    std::vector<MetricFamily> now, expected;
    const auto keep = [&](const std::string& name) {
      if (last.count(name) == 0) return false;
      now.push_back(last[name]);
      ++kept;
      return true;
    };
    requests.show(plugins, keep, [&](const MetricFamily& family) {
      now.push_back(family);
      last[family.name] = family;
    });
    add_plugins(expected, plugins);
    EXPECT_EQ(text(now), text(expected));
    return text(now);
  }

  const ServerIdentity identity;
  const MetricRegistry registry{identity.slot()};
  const ServerScope scope{identity.slot()};
  Metric& total = Metric::counter("apiserver_request_total", "Requests.", {"code", "group", "version"});
  Metric& durations = Metric::histogram("apiserver_request_duration_seconds", "Times.", {"group", "version"}, {1, 2});
  std::vector<PluginStatus> plugins = {plugin("core", {"v1"}), plugin("apps", {"apps/v1", "apps/v1beta1"})};
  MetricView total_view{total}, durations_view{durations};
  PluginRequests requests;
  std::map<std::string, MetricFamily> last;
  int kept = 0;
};

TEST_F(PluginRequestsTest, SumsAreThoseOfTheFirstScrape) {
  EXPECT_EQ(scrape().find("backplane_plugin_requests_total"), std::string::npos) << "nothing is counted yet";
  total.add({"200", "apps", "v1"}, 2);
  total.add({"200", "apps", "v1beta1"});
  total.add({"404", "", "v1"});
  total.add({"200", "e.com", "v1"});
  durations.observe({"apps", "v1"}, 1.5);
  durations.observe({"apps", "v1beta1"}, 0.5);
  durations.observe({"", "v1"}, 3);
  EXPECT_NE(scrape().find("backplane_plugin_requests_total{plugin=\"apps\",code=\"200\"} 3\n"), std::string::npos);
  EXPECT_NE(scrape().find("backplane_plugin_request_duration_seconds_sum{plugin=\"apps\"} 2\n"), std::string::npos);
  total.add({"200", "apps", "v1"});
  durations.observe({"apps", "v1"}, 0.25);
  EXPECT_NE(scrape().find("backplane_plugin_requests_total{plugin=\"apps\",code=\"200\"} 4\n"), std::string::npos);
  total.add({"201", "apps", "v1"});
  scrape();
  plugins.push_back(plugin("example", {"e.com/v1"}));
  EXPECT_NE(scrape().find("backplane_plugin_requests_total{plugin=\"example\",code=\"200\"} 1\n"), std::string::npos);
  plugins.erase(plugins.begin());
  EXPECT_EQ(scrape().find("plugin=\"core\""), std::string::npos);
  kept = 0;
  scrape();
  EXPECT_EQ(kept, 9) << "nothing has changed";
  reset_metric(total);
  EXPECT_EQ(scrape().find("backplane_plugin_requests_total"), std::string::npos);
  total.add({"201", "apps", "v1"});
  scrape();
}

TEST_F(PluginRequestsTest, RequestsCountForThePluginThatHasInstalledTheGroupVersion) {
  plugins = {plugin("apps", {"apps/v1"}), plugin("off", {"off/v1"})};
  plugins[0].threads = 2;
  plugins[1].state = PluginState::kDisabled;
  total.add({"200", "apps", "v1"}, 3);
  total.add({"500", "apps", "v1"});
  total.add({"200", "off", "v1"}, 7);
  total.add({"200", "", ""}, 9);
  const std::string scraped = scrape();
  EXPECT_NE(scraped.find("\nbackplane_plugin_info{plugin=\"apps\""), std::string::npos);
  EXPECT_NE(scraped.find("\nbackplane_plugin_info{plugin=\"off\""), std::string::npos);
  EXPECT_NE(scraped.find("\nbackplane_plugin_threads{plugin=\"apps\"} 2\n"), std::string::npos);
  EXPECT_NE(scraped.find("counter\nbackplane_plugin_requests_total{plugin=\"apps\",code=\"200\"} 3\n"
                         "backplane_plugin_requests_total{plugin=\"apps\",code=\"500\"} 1\n"),
            std::string::npos);
  EXPECT_EQ(scraped.find("plugin=\"off\"} "), std::string::npos) << "a plugin that does not run has no requests";
}

}  // namespace
}  // namespace backplane
