#include "app/uncached_metrics.hpp"

#include <algorithm>

namespace backplane {
namespace {

using prometheus::ClientMetric;

bool is_of_caches(std::string_view name) {
  return name.starts_with("apiserver_watch_cache_") || name.starts_with("apiserver_cache_list_") || name == "watch_cache_capacity" ||
         name == "apiserver_init_events_total";
}

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

void hide_uncached(std::vector<prometheus::MetricFamily>& families, const ConfirmedReads& confirmed) {
  for (auto& family : families) {
    if (is_of_caches(family.name)) std::erase_if(family.metric, [&](const ClientMetric& metric) { return is_hidden(metric, confirmed); });
  }
}

}  // namespace backplane
