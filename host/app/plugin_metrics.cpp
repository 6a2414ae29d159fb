#include "app/plugin_metrics.hpp"

#include <algorithm>
#include <map>

namespace backplane {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using PluginOf = std::map<std::string, std::string>;  // "apps/v1" → plugin

MetricFamily family(std::string name, std::string help, MetricType type) { return {std::move(name), std::move(help), type, {}}; }

ClientMetric of_plugin(const std::string& plugin) {
  ClientMetric metric;
  metric.label.push_back({"plugin", plugin});
  return metric;
}

struct Gauge {
  const char *name, *help;
  double (*value)(const PluginStatus&);
};
constexpr Gauge kGauges[] = {
    {"backplane_plugin_build", "Number of the build of a plugin that runs: 1 since startup, one more for each that took its place.",
     [](const PluginStatus& plugin) { return static_cast<double>(plugin.build); }},
    {"backplane_plugin_threads", "Threads of a plugin: one for each of its executors.",
     [](const PluginStatus& plugin) { return static_cast<double>(plugin.threads); }},
    {"backplane_plugin_tasks", "Running background tasks of a plugin.",
     [](const PluginStatus& plugin) { return static_cast<double>(plugin.tasks); }},
    {"backplane_plugin_open_watches", "Open watches on the resources of a plugin.",
     [](const PluginStatus& plugin) { return static_cast<double>(plugin.open_watches); }},
    {"backplane_plugin_mapped_bytes", "Address space of the code and the static data of a plugin, in bytes.",
     [](const PluginStatus& plugin) { return static_cast<double>(plugin.mapped_bytes); }},
};

void add_gauges(std::vector<MetricFamily>& families, const std::vector<PluginStatus>& plugins) {
  auto info = family("backplane_plugin_info", "Plugins that were found; 1 if the plugin runs, else 0.", MetricType::Gauge);
  for (const auto& plugin : plugins) {
    auto metric = of_plugin(plugin.name);
    metric.label.push_back({"state", std::string(state_name(plugin.state))});
    metric.label.push_back({"version", plugin.version});
    metric.gauge.value = plugin.runs() ? 1 : 0;
    info.metric.push_back(std::move(metric));
  }
  families.push_back(std::move(info));
  auto used = family("backplane_plugin_cpu_seconds_total",
                     "CPU time of the threads of a plugin since its build runs, in seconds; without calls on threads of the server.",
                     MetricType::Counter);
  for (const auto& plugin : plugins) {
    if (!plugin.runs()) continue;
    used.metric.push_back(of_plugin(plugin.name));
    used.metric.back().counter.value = seconds_of(plugin.cpu_time);
  }
  families.push_back(std::move(used));
  for (const auto& row : kGauges) {
    auto gauge = family(row.name, row.help, MetricType::Gauge);
    for (const auto& plugin : plugins) {
      if (!plugin.runs()) continue;
      gauge.metric.push_back(of_plugin(plugin.name));
      gauge.metric.back().gauge.value = row.value(plugin);
    }
    families.push_back(std::move(gauge));
  }
}

// Positions of labels in a series.
struct Columns {
  std::size_t group, version, code;
  static std::size_t find(const Metric::Snapshot& metric, const char* label) {
    return static_cast<std::size_t>(std::find(metric.labels.begin(), metric.labels.end(), label) - metric.labels.begin());
  }
  explicit Columns(const Metric::Snapshot& metric)
      : group(find(metric, "group")), version(find(metric, "version")), code(find(metric, "code")) {}
};

const std::string* plugin_of(const PluginOf& plugins, const std::vector<std::string>& values, const Columns& columns) {
  if (columns.group >= values.size() || columns.version >= values.size() || values[columns.version].empty()) return nullptr;
  const std::string& group = values[columns.group];
  const auto found = plugins.find(group.empty() ? values[columns.version] : group + "/" + values[columns.version]);
  return found == plugins.end() ? nullptr : &found->second;
}

void add_requests(std::vector<MetricFamily>& families, const PluginOf& plugins, const Metric::Snapshot& total) {
  const Columns columns(total);
  std::map<std::pair<std::string, std::string>, double> counts;
  for (const auto& [values, series] : total.series) {
    const std::string* plugin = plugin_of(plugins, values, columns);
    if (plugin != nullptr && columns.code < values.size()) counts[{*plugin, values[columns.code]}] += series.value;
  }
  auto requests = family("backplane_plugin_requests_total", "Requests for the resources of a plugin, by status code.", MetricType::Counter);
  for (const auto& [key, count] : counts) {
    auto metric = of_plugin(key.first);
    metric.label.push_back({"code", key.second});
    metric.counter.value = count;
    requests.metric.push_back(std::move(metric));
  }
  families.push_back(std::move(requests));
}

void add_durations(std::vector<MetricFamily>& families, const PluginOf& plugins, const Metric::Snapshot& durations) {
  const Columns columns(durations);
  std::map<std::string, Metric::Series> sums;
  for (const auto& [values, series] : durations.series) {
    const std::string* plugin = plugin_of(plugins, values, columns);
    if (plugin == nullptr) continue;
    Metric::Series& sum = sums[*plugin];
    sum.count += series.count;
    sum.value += series.value;
    sum.buckets.resize(std::max(sum.buckets.size(), series.buckets.size()));
    for (std::size_t i = 0; i < series.buckets.size(); ++i) sum.buckets[i] += series.buckets[i];
  }
  auto out = family("backplane_plugin_request_duration_seconds", "Time of the requests for the resources of a plugin, in seconds.",
                    MetricType::Histogram);
  for (const auto& [plugin, sum] : sums) {
    auto metric = of_plugin(plugin);
    metric.histogram.sample_count = sum.count;
    metric.histogram.sample_sum = sum.value;
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < durations.bounds.size() && i < sum.buckets.size(); ++i) {
      below += sum.buckets[i];
      ClientMetric::Bucket bucket;
      bucket.cumulative_count = below;
      bucket.upper_bound = durations.bounds[i];
      metric.histogram.bucket.push_back(bucket);
    }
    out.metric.push_back(std::move(metric));
  }
  families.push_back(std::move(out));
}

}  // namespace

void add_plugins(std::vector<MetricFamily>& families, const std::vector<PluginStatus>& plugins,
                 const std::vector<Metric::Snapshot>& measured) {
  add_gauges(families, plugins);
  PluginOf owners;
  for (const auto& plugin : plugins) {
    for (const auto& version : plugin.group_versions) {
      if (plugin.runs()) owners[version] = plugin.name;
    }
  }
  for (const auto& metric : measured) {
    if (metric.name == "apiserver_request_total") add_requests(families, owners, metric);
    if (metric.name == "apiserver_request_duration_seconds") add_durations(families, owners, metric);
  }
}

}  // namespace backplane
