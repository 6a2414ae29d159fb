// GET /metrics: metrics of the process, its requests and its caches, in the formats of Prometheus. With --profiling, DELETE /metrics resets
// the request counts. GET /metrics/slis: the results of the health checks, for availability reports.
//
// Thread-safety: any number of scrapes at once.
// Lifetime:      borrows what it reports.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "app/feature_gates.hpp"
#include "app/metric_rules.hpp"
#include "app/other_stores.hpp"
#include "app/tracked_caches.hpp"
#include "backplane/points/http.hpp"
#include "backplane/points/storage.hpp"
#include "filters/in_flight.hpp"
#include "filters/request_metrics.hpp"
#include "plugin/plugin_status.hpp"
#include "routing/health.hpp"
#include "security/published_security.hpp"
#include "transport/server_loop.hpp"

namespace backplane {

struct MetricsParts {
  RequestMetrics& requests;
  const PublishedAuthorizer& authorization;
  const InFlightLimits& in_flight;
  const TrackedCaches& caches;
  ConfirmedReads uncached;
  std::vector<const StorageBackend*> storages;
  const FeatureGates& gates;
  const ReportedVersion& version;
  const TransportCounters& transport;
  const RequestGate* gate;  // null: there is no request gate
  bool may_reset = false;   // DELETE resets the request counts
  bool count_objects = true;
  bool store_size = true;
  std::function<std::vector<PluginStatus>()> plugins = {};
};

// Both handlers apply `rules` to the families that they show.
std::shared_ptr<HttpHandler> make_metrics_handler(MetricsParts parts, MetricRules rules);
std::shared_ptr<HttpHandler> make_slis_handler(const HealthRegistry& health, MetricRules rules);

}  // namespace backplane
