// Metrics of watch caches. /metrics does not show them for resources whose reads the store confirms: to clients, these have no cache.
//
// Thread-safety: pure functions.
#pragma once

#include <string_view>

namespace backplane {

// Whether the family has such metrics: a series with the labels of such a resource is not shown.
bool is_of_caches(std::string_view family);

}  // namespace backplane
