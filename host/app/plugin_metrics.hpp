// Metrics with the label `plugin`: what runs, and what is asked of it.
//
// Requests are those of apiserver_request_total and apiserver_request_duration_seconds, by the plugin that has installed the group version;
// a request costs nothing more because of them. Thread-safety: a function of its arguments.
#pragma once

#include <prometheus/metric_family.h>

#include <vector>

#include "backplane/core/metrics.hpp"
#include "plugin/plugin_status.hpp"

namespace backplane {

void add_plugins(std::vector<prometheus::MetricFamily>& families, const std::vector<PluginStatus>& plugins,
                 const std::vector<Metric::Snapshot>& measured);

}  // namespace backplane
