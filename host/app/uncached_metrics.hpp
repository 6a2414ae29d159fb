// Of resources whose reads the store confirms, what is counted of caches is not shown: to who asks, there is none.
//
// Thread-safety: pure functions.
#pragma once

#include <prometheus/metric_family.h>

#include <vector>

#include "app/other_stores.hpp"

namespace backplane {

void hide_uncached(std::vector<prometheus::MetricFamily>& families, const ConfirmedReads& confirmed);

}  // namespace backplane
