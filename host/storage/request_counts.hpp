// Metrics of the calls of a store: etcd_request_duration_seconds and similar ones. They have kube-apiserver's names for every kind of
// store.
//
// Thread-safety: any thread.
#pragma once

#include <chrono>
#include <string_view>

#include "backplane/core/meta.hpp"

namespace backplane {

// Counts a completed request. `operation`: "get", "list", "create" …
void count_request(std::string_view operation, const GroupResource& resource, bool failed, std::chrono::steady_clock::time_point begun);

}  // namespace backplane
