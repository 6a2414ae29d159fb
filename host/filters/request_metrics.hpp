// What /metrics shows of requests and is no Metric of the SDK; the counts of routes are in endpoints/request_series.hpp.
//
// Thread-safety: any thread.
#pragma once

#include "filters/access_metrics.hpp"

namespace backplane {

struct RequestMetrics {
  AccessMetrics access;

  // Counts begin again at nothing; what is counted meanwhile may be lost.
  void reset();
};

}  // namespace backplane
