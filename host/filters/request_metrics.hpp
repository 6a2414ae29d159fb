// Request metrics that are not Metrics of the SDK.  endpoints/request_series.hpp has the counts of routes.
//
// Thread-safety: any thread.
#pragma once

#include "filters/access_metrics.hpp"
#include "filters/impersonation_metrics.hpp"

namespace backplane {

struct RequestMetrics {
  AccessMetrics access;
  ImpersonationMetrics impersonation;

  // Resets the counts to 0; concurrent increments may be lost.
  void reset();
};

}  // namespace backplane
