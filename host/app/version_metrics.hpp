// kubernetes_build_info and version_info: metrics whose labels are versions, and whose value is 1.
//
// Thread-safety: any thread.
// Errors:        none.
#pragma once

#include <prometheus/metric_family.h>

#include "routing/version.hpp"

namespace backplane {

prometheus::MetricFamily build_info_metric(const ReportedVersion& version);
prometheus::MetricFamily version_info_metric(const EffectiveVersion& version);

}  // namespace backplane
