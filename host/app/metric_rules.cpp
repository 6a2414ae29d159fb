#include "app/metric_rules.hpp"

#include <algorithm>
#include <boost/regex.hpp>
#include <fstream>
#include <iterator>

#include "app/flag_values.hpp"
#include "backplane/types/schema.hpp"

namespace backplane {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

constexpr std::string_view kUnexpected = "unexpected";

void add(ClientMetric& to, const ClientMetric& from) {
  to.gauge = from.gauge;
  to.counter.value += from.counter.value;
  to.histogram.sample_count += from.histogram.sample_count;
  to.histogram.sample_sum += from.histogram.sample_sum;
  // All histograms of a family have the same buckets.
  for (std::size_t i = 0; i < std::min(to.histogram.bucket.size(), from.histogram.bucket.size()); ++i) {
    to.histogram.bucket[i].cumulative_count += from.histogram.bucket[i].cumulative_count;
  }
}

std::vector<std::pair<std::string, std::string>> label_texts(const ClientMetric& metric) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& label : metric.label) out.emplace_back(label.name, label.value);
  return out;
}

// A metric that kube-apiserver has deprecated and hides, and the metric that supplies its values.
struct HiddenMetric {
  std::string_view name, source, help;
  MetricType type;
};
constexpr HiddenMetric kHidden[] = {
    {"apiserver_request_slo_duration_seconds", "apiserver_request_sli_duration_seconds",
     "[ALPHA] (Deprecated since 1.27.0) Request latency without webhooks and waits in priority and fairness queues; use "
     "apiserver_request_sli_duration_seconds.",
     MetricType::Histogram},
    {"apiserver_flowcontrol_request_concurrency_limit", "apiserver_flowcontrol_nominal_limit_seats",
     "[ALPHA] (Deprecated since 1.30.0) Nominal number of seats of each priority level; use apiserver_flowcontrol_nominal_limit_seats.",
     MetricType::Gauge},
    {"apiserver_flowcontrol_request_concurrency_in_use", "apiserver_flowcontrol_current_executing_seats",
     "[ALPHA] (Deprecated since 1.31.0) Seats of the requests that are executed; use apiserver_flowcontrol_current_executing_seats.",
     MetricType::Gauge},
    {"etcd_bookmark_counts", "etcd_bookmark_total",
     "[ALPHA] (Deprecated since 1.36.0) Progress notifications of etcd; use etcd_bookmark_total.", MetricType::Gauge},
};

bool is_hidden(std::string_view name) {
  return std::any_of(std::begin(kHidden), std::end(kHidden), [&](const HiddenMetric& hidden) { return hidden.name == name; });
}

void add_hidden(std::vector<MetricFamily>& families) {
  for (const HiddenMetric& hidden : kHidden) {
    const auto source = std::find_if(families.begin(), families.end(), [&](const auto& family) { return family.name == hidden.source; });
    const auto is_there = [&](const auto& family) { return family.name == hidden.name; };
    if (source == families.end() || std::any_of(families.begin(), families.end(), is_there)) continue;
    MetricFamily added{std::string(hidden.name), std::string(hidden.help), hidden.type, source->metric};
    if (source->type == MetricType::Counter && hidden.type == MetricType::Gauge) {
      for (ClientMetric& metric : added.metric) metric.gauge.value = metric.counter.value;
    }
    families.push_back(std::move(added));
  }
}

void join_alike(std::vector<ClientMetric>& metrics) {
  std::map<std::vector<std::pair<std::string, std::string>>, std::size_t> places;
  std::vector<ClientMetric> joined;
  for (auto& metric : metrics) {
    const auto [place, is_new] = places.emplace(label_texts(metric), joined.size());
    if (is_new) {
      joined.push_back(std::move(metric));
    } else {
      add(joined[place->second], metric);
    }
  }
  metrics = std::move(joined);
}

}  // namespace

Status MetricRules::allow(const std::string& key, const std::string& values) {
  static const boost::regex wanted("[a-zA-Z_:][a-zA-Z0-9_:]*,[a-zA-Z_][a-zA-Z0-9_]*");
  if (!boost::regex_match(key, wanted)) {
    return bad_request(
        "--allow-metric-labels must have a list of kv pair with format `metricName,labelName=labelValue, labelValue,...`, got " +
        backplane::quoted(std::string_view(key)));
  }
  const auto comma = key.find(',');
  auto& list = allowed_[key.substr(0, comma)][key.substr(comma + 1)];
  for (auto& value : split_list(values)) list.insert(std::move(value));
  return {};
}

Result<MetricRules> MetricRules::make(const MetricOptions& options) {
  MetricRules rules;
  rules.shows_hidden_ = !options.show_hidden_for.empty();
  rules.disabled_.insert(options.disabled.begin(), options.disabled.end());
  for (const auto& pair : options.allow_labels) {
    const auto equals = pair.find('=');
    Status status = rules.allow(pair.substr(0, equals), pair.substr(equals + 1));
    if (!status.ok()) return status;
  }
  if (!options.allow_labels.empty() || options.allow_labels_manifest.empty()) return rules;
  const std::string& path = options.allow_labels_manifest;
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  auto tree = parse_yaml(text, {}, nullptr);
  if (!file || !tree.ok() || !tree->is_object())
    return bad_request("--allow-metric-labels-manifest: " + backplane::quoted(path) + " holds no YAML object");
  for (const auto& [key, value] : tree->as_object()) {
    if (!value.is_string())
      return bad_request("--allow-metric-labels-manifest: " + backplane::quoted(path) + ": the value of " +
                         backplane::quoted(std::string_view(key)) + " is no string");
    Status status = rules.allow(std::string(key), std::string(value.as_string()));
    if (!status.ok()) return status;
  }
  return rules;
}

bool MetricRules::takes_out(std::string_view name) const { return (!shows_hidden_ && is_hidden(name)) || disabled_.contains(name); }

void MetricRules::apply(std::vector<MetricFamily>& families) const {
  if (shows_hidden_) add_hidden(families);
  std::erase_if(families, [this](const MetricFamily& family) { return takes_out(family.name); });
  for (auto& family : families) {
    const auto rule = allowed_.find(family.name);
    if (rule == allowed_.end()) continue;
    for (auto& metric : family.metric) {
      for (auto& label : metric.label) {
        const auto values = rule->second.find(label.name);
        if (values != rule->second.end() && !values->second.contains(label.value)) label.value = kUnexpected;
      }
    }
    join_alike(family.metric);
  }
}

}  // namespace backplane
