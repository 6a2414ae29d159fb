#include "filters/request_metrics.hpp"

#include "endpoints/request_series.hpp"

namespace backplane {

void RequestMetrics::reset() {
  reset_request_series();
  access.reset();
  impersonation.reset();
}

}  // namespace backplane
