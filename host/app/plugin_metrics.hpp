// Metrics with the label `plugin`: facts about the plugins, and the requests for their resources.
//
// The requests are summed up from apiserver_request_total and apiserver_request_duration_seconds, by the plugin that has installed the
// group version. They add no work to a request.
//
// Thread-safety: functions of their arguments; a PluginRequests belongs to one thread at a time.
#pragma once

#include <prometheus/metric_family.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "backplane/core/metric_view.hpp"
#include "backplane/core/metrics.hpp"
#include "plugin/plugin_status.hpp"

namespace backplane {

// Adds the families that a new PluginRequests shows for `plugins`.
void add_plugins(std::vector<prometheus::MetricFamily>& families, const std::vector<PluginStatus>& plugins);

// The families for a caller that needs them repeatedly: families that have not changed are not made again.
//
//   set_plugins() → read() for each of the metrics() → show()
class PluginRequests {
 public:
  // The metrics that are summed up by plugin.
  static std::vector<std::string> metrics();

  void set_plugins(const std::vector<PluginStatus>& plugins);
  // `about`: one of the metrics. All readings of a metric must come from one MetricView: read() uses the changes since the previous
  // reading.
  void read(const Metric::Snapshot& about, const MetricView::Reading& reading);

  // Calls `keep` with the name of each family that is the same as in the last call, and `set` with the others and with those that `keep`
  // returns false for.
  using Keep = std::function<bool(const std::string& name)>;
  using Set = std::function<void(prometheus::MetricFamily family)>;
  void show(const std::vector<PluginStatus>& plugins, const Keep& keep, const Set& set);

 private:
  // One of metrics(), with the plugin and the status code of each of its series.
  struct Measured {
    std::vector<std::pair<std::string, std::string>> groups;  // plugin, and status code if there is one
    std::vector<std::uint32_t> group_of;                      // by series: its index in `groups`; kNone: the series belongs to no plugin
    prometheus::MetricFamily family;                          // without a name: not shown
    bool changed = false;                                     // since show()
  };
  void list(Measured& measured, const Metric::Snapshot& about, const MetricView::Reading& reading) const;
  static void sum(Measured& measured, const std::vector<double>& bounds, const MetricView::Reading& reading);

  std::map<std::string, std::string> owners_;  // "apps/v1" → plugin
  bool same_owners_ = false;
  Measured requests_, durations_;
  std::map<std::string, std::string> gauges_;  // by family: the values that it shows, for comparison
};

}  // namespace backplane
