#include <algorithm>
#include <iterator>
#include <map>

#include "app/server_parts.hpp"
#include "backplane/core/metrics.hpp"

namespace backplane {
namespace {

// Verb, resource and group version of a series: "WATCH deployments (apps/v1)".
std::string request_name(const Metric::Snapshot& metric, const std::vector<std::string>& values) {
  std::map<std::string, std::string> by_label;
  for (std::size_t i = 0; i < metric.labels.size() && i < values.size(); ++i) by_label[metric.labels[i]] = values[i];
  std::string resource = by_label["resource"];
  if (const std::string& subresource = by_label["subresource"]; !subresource.empty()) resource += "/" + subresource;
  const std::string& group = by_label["group"];
  return by_label["verb"] + " " + resource + " (" + (group.empty() ? "" : group + "/") + by_label["version"] + ")";
}

void add_long_running(std::vector<Activity>& out) {
  for (const Metric::Snapshot& metric : Metric::all()) {
    if (metric.name != "apiserver_longrunning_requests") continue;
    for (const auto& [values, series] : metric.series) {
      out.push_back({request_name(metric, values), "long-running requests", static_cast<std::int64_t>(series.value)});
    }
  }
}

}  // namespace

Activities ServerParts::activities() {
  return [this] {
    std::vector<Activity> all, out;
    for (const bool mutating : {false, true}) {
      all.push_back({mutating ? "mutating" : "read-only", "requests", in_flight.running(mutating)});
    }
    add_long_running(all);
    for (const PluginStatus& plugin : plugins->statuses())
      all.push_back({plugin.name, "tasks of plugins", static_cast<std::int64_t>(plugin.tasks)});
    std::copy_if(all.begin(), all.end(), std::back_inserter(out), [](const Activity& each) { return each.count > 0; });
    return out;
  };
}

}  // namespace backplane
