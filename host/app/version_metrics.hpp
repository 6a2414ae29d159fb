// kubernetes_build_info and version_info: metrics whose labels are versions, and whose value is 1.
//
// Thread-safety: any thread.
// Errors:        none.
#pragma once

#include <prometheus/metric_family.h>

namespace backplane {

prometheus::MetricFamily build_info_metric();
prometheus::MetricFamily version_info_metric();

}  // namespace backplane
