// etcd_request_duration_seconds and similar metrics: calls of a store, under kube-apiserver's names for each kind of store.
//
// Thread-safety: any thread.
#pragma once

#include <chrono>
#include <string_view>

#include "backplane/core/meta.hpp"

namespace backplane {

// One completed request about `resource`: "get", "list", "create"...
void count_request(std::string_view operation, const GroupResource& resource, bool failed, std::chrono::steady_clock::time_point begun);

}  // namespace backplane
