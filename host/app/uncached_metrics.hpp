// Metrics of watch caches. For resources whose reads are confirmed with the store (ConfirmedReads), /metrics does not show them, because
// clients observe no cache of these resources.
//
// Thread-safety: pure functions.
#pragma once

#include <string_view>

namespace backplane {

// True if the family has such metrics. A series whose labels name such a resource is then not shown.
bool is_of_caches(std::string_view family);

}  // namespace backplane
