// The host's own health checks, by upstream's names.
//
// Thread-safety: checks may be asked from any thread.
// Lifetime:      borrow what they look at.
#pragma once

#include <chrono>
#include <vector>

#include "app/tracked_caches.hpp"
#include "backplane/storage.hpp"
#include "routing/health.hpp"

namespace backplane {

struct HealthCheckParts {
  StorageBackend& storage;
  std::vector<StorageBackend*> other_stores;  // of single resources
  const TrackedCaches& caches;
  std::chrono::nanoseconds healthcheck_timeout;
  std::chrono::nanoseconds readycheck_timeout;
};

// Adds ping, log, etcd, then (readyz only) etcd-readiness, informer-sync; etcd-override-N and etcd-override-readiness-N for the N-th store
// of single resources.
Status add_host_checks(HealthRegistry& registry, HealthCheckParts parts);
// readyz only, and last: the check named shutdown.
Status add_shutdown_check(HealthRegistry& registry, const Signal& shutdown_initiated);

}  // namespace backplane
