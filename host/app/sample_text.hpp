// Metric families of samples as Prometheus' text. MetricLines writes the lines, as it writes those of registered metrics.
//
// Thread-safety: pure.
// Errors:        none. Quantiles of summaries are left out: this server has none.
#pragma once

#include <prometheus/metric_family.h>

#include <string>
#include <vector>

namespace backplane {

std::vector<std::string> metrics_as_text(const std::vector<prometheus::MetricFamily>& families);
// One family.
void append_family(std::string& out, const prometheus::MetricFamily& family);

}  // namespace backplane
