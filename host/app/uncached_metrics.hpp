// Removes the metrics of watch caches from /metrics for resources whose reads the store confirms: to clients, these have no cache.
//
// Thread-safety: pure functions.
#pragma once

#include <prometheus/metric_family.h>

#include <string_view>
#include <vector>

#include "app/other_stores.hpp"

namespace backplane {

void hide_uncached(std::vector<prometheus::MetricFamily>& families, const ConfirmedReads& confirmed);

// Whether hide_uncached() may remove series of the family: those with labels of such a resource.
bool is_of_caches(std::string_view family);

}  // namespace backplane
