#include "app/uncached_metrics.hpp"

#include <algorithm>

namespace backplane {
namespace {

using prometheus::ClientMetric;

// Metrics without a resource label belong to no single resource.
bool is_hidden(const ClientMetric& metric, const ConfirmedReads& confirmed) {
  GroupResource resource;
  for (const ClientMetric::Label& label : metric.label) {
    if (label.name == "group") resource.group = label.value;
    if (label.name == "resource") resource.resource = label.value;
  }
  return !resource.resource.empty() && confirmed.includes(resource);
}

}  // namespace

bool is_of_caches(std::string_view family) {
  return family.starts_with("apiserver_watch_cache_") || family.starts_with("apiserver_cache_list_") || family == "watch_cache_capacity" ||
         family == "apiserver_init_events_total";
}

void hide_uncached(std::vector<prometheus::MetricFamily>& families, const ConfirmedReads& confirmed) {
  for (auto& family : families) {
    if (is_of_caches(family.name)) std::erase_if(family.metric, [&](const ClientMetric& metric) { return is_hidden(metric, confirmed); });
  }
}

}  // namespace backplane
