// GET /metrics: the process, its requests, its caches, as Prometheus reads them.
//
// Thread-safety: any number of scrapes at once.
// Lifetime:      borrows what it reports.
#pragma once

#include <memory>

#include "app/feature_gates.hpp"
#include "app/tracked_caches.hpp"
#include "backplane/http.hpp"
#include "backplane/storage.hpp"
#include "filters/in_flight.hpp"
#include "filters/request_metrics.hpp"
#include "transport/server_loop.hpp"

namespace backplane {

struct MetricsParts {
  const RequestMetrics& requests;
  const InFlightLimits& in_flight;
  const TrackedCaches& caches;
  const StorageBackend& storage;
  const FeatureGates& gates;
  const TransportCounters& transport;
};

std::shared_ptr<HttpHandler> make_metrics_handler(MetricsParts parts);

}  // namespace backplane
