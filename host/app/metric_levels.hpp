// Stability levels of metric families, as "[STABLE] …" in their help, and the counts of families by level.
//
// Thread-safety: pure functions.
#pragma once

#include <prometheus/metric_family.h>

#include <cstddef>
#include <vector>

namespace backplane {

// Puts the level in front of each help text that has none; families of the process and of gRPC have none, as upstream.
void mark_levels(std::vector<prometheus::MetricFamily>& families);
// Adds registered_metrics_total, disabled_metrics_total and hidden_metrics_total: of `families` and of those that a flag has disabled.
void count_levels(std::vector<prometheus::MetricFamily>& families, std::size_t disabled, std::size_t hidden);

}  // namespace backplane
