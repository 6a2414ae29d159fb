#include "app/plugin_metrics.hpp"

#include <algorithm>
#include <map>
#include <utility>

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
  MetricType type = MetricType::Gauge;
};
constexpr Gauge kGauges[] = {
    {"backplane_plugin_cpu_seconds_total",
     "CPU time of the threads of a plugin since its build runs, in seconds; without calls on threads of the server.",
     [](const PluginStatus& plugin) { return seconds_of(plugin.cpu_time); }, MetricType::Counter},
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

constexpr const char* kInfo = "backplane_plugin_info";
MetricFamily info_family(const std::vector<PluginStatus>& plugins) {
  auto info = family(kInfo, "Plugins that were found; 1 if the plugin runs, else 0.", MetricType::Gauge);
  for (const auto& plugin : plugins) {
    auto metric = of_plugin(plugin.name);
    metric.label.push_back({"state", std::string(state_name(plugin.state))});
    metric.label.push_back({"version", plugin.version});
    metric.gauge.value = plugin.runs() ? 1 : 0;
    info.metric.push_back(std::move(metric));
  }
  return info;
}
// The values that info_family() shows, for comparison.
std::string info_key(const std::vector<PluginStatus>& plugins) {
  std::string out;
  for (const auto& plugin : plugins) {
    out.append(plugin.name).append(1, '\0').append(state_name(plugin.state)).append(1, '\0').append(plugin.version).append(1, '\0');
  }
  return out;
}

MetricFamily gauge_family(const Gauge& row, const std::vector<PluginStatus>& plugins) {
  auto gauge = family(row.name, row.help, row.type);
  for (const auto& plugin : plugins) {
    if (!plugin.runs()) continue;
    gauge.metric.push_back(of_plugin(plugin.name));
    ClientMetric& metric = gauge.metric.back();
    (row.type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = row.value(plugin);
  }
  return gauge;
}
std::string gauge_key(const Gauge& row, const std::vector<PluginStatus>& plugins) {
  std::string out;
  for (const auto& plugin : plugins) {
    if (!plugin.runs()) continue;
    const double value = row.value(plugin);
    out.append(plugin.name).append(1, '\0').append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return out;
}

constexpr std::string_view kRequests = "apiserver_request_total";
constexpr std::string_view kDurations = "apiserver_request_duration_seconds";
constexpr std::uint32_t kNone = 0xffffffff;

// Positions of labels in a series.
struct Columns {
  std::size_t group, version, code;
  static std::size_t find(const Metric::Snapshot& metric, const char* label) {
    return static_cast<std::size_t>(std::find(metric.labels.begin(), metric.labels.end(), label) - metric.labels.begin());
  }
  explicit Columns(const Metric::Snapshot& metric)
      : group(find(metric, "group")), version(find(metric, "version")), code(find(metric, "code")) {}
};

PluginOf owners_of(const std::vector<PluginStatus>& plugins) {
  PluginOf owners;
  for (const auto& plugin : plugins) {
    for (const auto& version : plugin.group_versions) {
      if (plugin.runs()) owners[version] = plugin.name;
    }
  }
  return owners;
}

const std::string* plugin_of(const PluginOf& plugins, const std::vector<std::string>& values, const Columns& columns) {
  if (columns.group >= values.size() || columns.version >= values.size() || values[columns.version].empty()) return nullptr;
  const std::string& group = values[columns.group];
  const auto found = plugins.find(group.empty() ? values[columns.version] : group + "/" + values[columns.version]);
  return found == plugins.end() ? nullptr : &found->second;
}

MetricFamily requests_family(const std::map<std::pair<std::string, std::string>, double>& counts) {
  auto requests = family("backplane_plugin_requests_total", "Requests for the resources of a plugin, by status code.", MetricType::Counter);
  for (const auto& [key, count] : counts) {
    auto metric = of_plugin(key.first);
    metric.label.push_back({"code", key.second});
    metric.counter.value = count;
    requests.metric.push_back(std::move(metric));
  }
  return requests;
}

MetricFamily durations_family(const std::map<std::string, Metric::Series>& sums, const std::vector<double>& bounds) {
  auto out = family("backplane_plugin_request_duration_seconds", "Time of the requests for the resources of a plugin, in seconds.",
                    MetricType::Histogram);
  for (const auto& [plugin, sum] : sums) {
    auto metric = of_plugin(plugin);
    metric.histogram.sample_count = sum.count;
    metric.histogram.sample_sum = sum.value;
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < bounds.size() && i < sum.buckets.size(); ++i) {
      below += sum.buckets[i];
      ClientMetric::Bucket bucket;
      bucket.cumulative_count = below;
      bucket.upper_bound = bounds[i];
      metric.histogram.bucket.push_back(bucket);
    }
    out.metric.push_back(std::move(metric));
  }
  return out;
}

// `labels`: as MetricView::Reading::labels() returns them.
std::vector<std::string> values_of(std::string_view labels, std::size_t count) {
  std::vector<std::string> out;
  while (!labels.empty()) {
    const std::size_t end = labels.find('\0');
    out.emplace_back(labels.substr(0, end));
    labels.remove_prefix(end + 1);
  }
  out.resize(count);
  return out;
}

}  // namespace

void add_plugins(std::vector<MetricFamily>& families, const std::vector<PluginStatus>& plugins) {
  PluginRequests requests;
  requests.set_plugins(plugins);
  const auto wanted = PluginRequests::metrics();
  for (const Metric* metric : MetricView::metrics()) {
    MetricView view(*metric);
    if (std::find(wanted.begin(), wanted.end(), view.about().name) != wanted.end()) requests.read(view.about(), view.read());
  }
  requests.show(
      plugins, [](const std::string&) { return false; }, [&](MetricFamily family) { families.push_back(std::move(family)); });
}

// ---- PluginRequests

std::vector<std::string> PluginRequests::metrics() { return {std::string(kRequests), std::string(kDurations)}; }

void PluginRequests::set_plugins(const std::vector<PluginStatus>& plugins) {
  PluginOf owners = owners_of(plugins);
  same_owners_ = owners == owners_;
  owners_ = std::move(owners);
}

void PluginRequests::read(const Metric::Snapshot& about, const MetricView::Reading& reading) {
  Measured& measured = about.name == kRequests ? requests_ : durations_;
  const bool same_series = reading.former().empty() && reading.size() == measured.group_of.size();
  if (!same_owners_ || !same_series) {
    list(measured, about, reading);
  } else {
    bool changed = false;
    for (std::size_t i = 0; i < reading.size() && !changed; ++i) changed = reading.changed()[i] != 0 && measured.group_of[i] != kNone;
    if (!changed) return;
  }
  sum(measured, about.bounds, reading);
  measured.changed = true;
}

void PluginRequests::show(const std::vector<PluginStatus>& plugins, const Keep& keep, const Set& set) {
  const auto show_gauge = [&](const char* name, std::string key, const auto& make) {
    std::string& last = gauges_[name];
    if (last != key || !keep(name)) set(make());
    last = std::move(key);
  };
  show_gauge(kInfo, info_key(plugins), [&] { return info_family(plugins); });
  for (const Gauge& row : kGauges) show_gauge(row.name, gauge_key(row, plugins), [&] { return gauge_family(row, plugins); });
  for (Measured* measured : {&requests_, &durations_}) {
    if (measured->family.name.empty()) continue;
    if (std::exchange(measured->changed, false) || !keep(measured->family.name)) set(measured->family);
  }
}

void PluginRequests::list(Measured& measured, const Metric::Snapshot& about, const MetricView::Reading& reading) const {
  const Columns columns(about);
  const std::size_t labels = about.labels.size();
  std::map<std::pair<std::string, std::string>, std::uint32_t> places;
  measured.groups.clear();
  measured.group_of.assign(reading.size(), kNone);
  for (std::size_t i = 0; i < reading.size(); ++i) {
    const auto values = values_of(reading.labels(i), labels);
    const std::string* plugin = plugin_of(owners_, values, columns);
    if (plugin == nullptr) continue;
    const auto [place, added] = places.emplace(std::pair(*plugin, columns.code < labels ? values[columns.code] : std::string()),
                                               static_cast<std::uint32_t>(measured.groups.size()));
    if (added) measured.groups.push_back(place->first);
    measured.group_of[i] = place->second;
  }
}

// Sums up the exposed series of each group.
void PluginRequests::sum(Measured& measured, const std::vector<double>& bounds, const MetricView::Reading& reading) {
  std::vector<Metric::Series> sums(measured.groups.size());
  std::vector<bool> exposed(measured.groups.size());
  std::vector<std::uint64_t> buckets(bounds.empty() ? 0 : bounds.size() + 1);
  bool any = false;
  for (std::size_t i = 0; i < reading.size(); ++i) {
    if (!reading.exposed(i)) continue;
    any = true;
    const std::uint32_t group = measured.group_of[i];
    if (group == kNone) continue;
    exposed[group] = true;
    Metric::Series& to = sums[group];
    to.value += reading.value(i);
    reading.buckets(i, buckets);
    to.buckets.resize(bounds.size());
    for (std::size_t bucket = 0; bucket < buckets.size(); ++bucket) {
      to.count += buckets[bucket];
      if (bucket < bounds.size()) to.buckets[bucket] += buckets[bucket];
    }
  }
  std::map<std::pair<std::string, std::string>, double> counts;
  std::map<std::string, Metric::Series> durations;
  for (std::size_t group = 0; group < measured.groups.size(); ++group) {
    if (!exposed[group]) continue;
    counts[measured.groups[group]] = sums[group].value;
    durations[measured.groups[group].first] = std::move(sums[group]);
  }
  // A metric without any series is not exposed, and neither are the sums of its series.
  measured.family = !any ? MetricFamily() : bounds.empty() ? requests_family(counts) : durations_family(durations, bounds);
}

}  // namespace backplane
