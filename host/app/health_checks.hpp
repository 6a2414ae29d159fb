// The host's own health checks, under upstream's names.
//
// Thread-safety: checks may run on any thread.
// Lifetime:      the checks borrow the objects in HealthCheckParts.
#pragma once

#include <chrono>
#include <vector>

#include "app/tracked_caches.hpp"
#include "backplane/points/storage.hpp"
#include "routing/health.hpp"

namespace backplane {

struct HealthCheckParts {
  StorageBackend& storage;
  std::vector<StorageBackend*> other_stores;  // the stores of --etcd-servers-overrides
  const TrackedCaches& caches;
  std::chrono::nanoseconds healthcheck_timeout;
  std::chrono::nanoseconds readycheck_timeout;
  std::chrono::system_clock::time_point loopback_expires;
};

// A check that fails from `expires` on. A liveness probe then restarts the server, which makes a new loopback certificate.
std::shared_ptr<HealthCheck> loopback_certificate_check(std::chrono::system_clock::time_point expires);

// Adds these checks, in this order:
//   ping, log, etcd                                   all endpoints
//   loopback-serving-certificate                      /healthz and /livez; it precedes etcd
//   etcd-readiness, informer-sync                     /readyz
//   etcd-override-N, etcd-override-readiness-N        for the N-th other store: all endpoints, /readyz
Status add_host_checks(HealthRegistry& registry, HealthCheckParts parts);
struct PlacedCheck {
  std::shared_ptr<HealthCheck> check;
  HealthEndpoints where;
};
// Adds the checks of hooks and plugins: first those that kube-apiserver has, in its order, then the others in the order of `checks`.
Status add_in_known_order(HealthRegistry& registry, std::vector<PlacedCheck> checks);
// True if kube-apiserver has a post-start hook of this name. kube-apiserver exits if such a hook fails.
bool is_upstream_hook(std::string_view name);
// Adds the check named shutdown, to /readyz only. It is the last check of a server.
Status add_shutdown_check(HealthRegistry& registry, const Signal& shutdown_initiated);

}  // namespace backplane
