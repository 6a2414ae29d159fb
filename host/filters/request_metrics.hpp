// The request metrics that are not objects of the SDK's class Metric. The metrics of routes are in endpoints/request_series.hpp.
//
// Thread-safety: any thread.
#pragma once

#include "filters/access_metrics.hpp"
#include "filters/impersonation_metrics.hpp"

namespace backplane {

struct RequestMetrics {
  AccessMetrics access;
  ImpersonationMetrics impersonation;

  // Sets the counts to 0, also those of request_series.hpp. Concurrent increments may be lost.
  void reset();
};

}  // namespace backplane
