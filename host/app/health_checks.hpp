// The host's own health checks, by upstream's names.
//
// Thread-safety: checks may run on any thread.
// Lifetime:      borrow what they look at.
#pragma once

#include <chrono>
#include <vector>

#include "app/tracked_caches.hpp"
#include "backplane/points/storage.hpp"
#include "routing/health.hpp"

namespace backplane {

struct HealthCheckParts {
  StorageBackend& storage;
  std::vector<StorageBackend*> other_stores;  // of single resources
  const TrackedCaches& caches;
  std::chrono::nanoseconds healthcheck_timeout;
  std::chrono::nanoseconds readycheck_timeout;
  std::chrono::system_clock::time_point loopback_expires;
};

// Fails from then on, so that a liveness probe restarts the server, which makes a new loopback certificate.
std::shared_ptr<HealthCheck> loopback_certificate_check(std::chrono::system_clock::time_point expires);

// Adds ping, log, loopback-serving-certificate (not readyz), etcd, then (readyz only) etcd-readiness, informer-sync; etcd-override-N and
// etcd-override-readiness-N for the N-th store of single resources.
Status add_host_checks(HealthRegistry& registry, HealthCheckParts parts);
struct PlacedCheck {
  std::shared_ptr<HealthCheck> check;
  HealthEndpoints where;
};
// Adds the checks of hooks and plugins in kube-apiserver's order; the others follow in the given order.
Status add_in_known_order(HealthRegistry& registry, std::vector<PlacedCheck> checks);
// Whether kube-apiserver has a post-start hook of this name, and ends when it fails.
bool is_upstream_hook(std::string_view name);
// readyz only, and last: the check named shutdown.
Status add_shutdown_check(HealthRegistry& registry, const Signal& shutdown_initiated);

}  // namespace backplane
