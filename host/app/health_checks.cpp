#include "app/health_checks.hpp"

#include <algorithm>
#include <iterator>

#include "app/log_check.hpp"
#include "base/log.hpp"

namespace backplane {
namespace {

constexpr HealthEndpoints kReadyOnly{false, false, true};
constexpr HealthEndpoints kNotReady{true, true, false};

// Health checks of kube-apiserver, in the order in which it prints them for ?verbose.
constexpr std::string_view kKnownOrder[] = {
    "kms-providers",
    "kms-provider-0",
    "kms-provider-1",
    "kms-provider-2",
    "kms-provider-3",
    "poststarthook/start-apiserver-admission-initializer",
    "poststarthook/generic-apiserver-start-informers",
    "poststarthook/priority-and-fairness-config-consumer",
    "poststarthook/priority-and-fairness-filter",
    "poststarthook/max-in-flight-filter",
    "poststarthook/storage-object-count-tracker-hook",
    "poststarthook/start-apiextensions-informers",
    "poststarthook/start-apiextensions-controllers",
    "poststarthook/crd-informer-synced",
    "poststarthook/start-system-namespaces-controller",
    "poststarthook/peer-endpoint-reconciler-controller",
    "poststarthook/start-cluster-authentication-info-controller",
    "poststarthook/start-kube-apiserver-identity-lease-controller",
    "poststarthook/start-kube-apiserver-identity-lease-garbage-collector",
    "poststarthook/storage-readiness",
    "poststarthook/start-legacy-token-tracking-controller",
    "poststarthook/start-service-ip-repair-controllers",
    "poststarthook/rbac/bootstrap-roles",
    "poststarthook/scheduling/bootstrap-system-priority-classes",
    "poststarthook/priority-and-fairness-config-producer",
    "poststarthook/bootstrap-controller",
    "poststarthook/start-kubernetes-service-cidr-controller",
    "poststarthook/start-kube-aggregator-informers",
    "poststarthook/apiservice-status-local-available-controller",
    "poststarthook/apiservice-status-remote-available-controller",
    "poststarthook/apiservice-registration-controller",
    "poststarthook/apiservice-discovery-controller",
    "poststarthook/kube-apiserver-autoregistration",
    "autoregister-completion",
    "poststarthook/apiservice-openapi-controller",
    "poststarthook/apiservice-openapiv3-controller",
};

constexpr std::string_view kHookCheck = "poststarthook/";

std::ptrdiff_t place_of(std::string_view name) {
  return std::distance(std::begin(kKnownOrder), std::find(std::begin(kKnownOrder), std::end(kKnownOrder), name));
}

Task<Status> not_later_than(std::chrono::system_clock::time_point expires) {
  if (std::chrono::system_clock::now() <= expires) co_return Status();
  co_return Status(Reason::kInternalError, "loopback serving certificate is expired");
}

Task<Status> store_answers(StorageBackend& storage, std::chrono::nanoseconds timeout) {
  Status status = co_await storage.health(std::chrono::duration_cast<std::chrono::milliseconds>(timeout));
  co_return status;
}

Task<Status> caches_are_loaded(const TrackedCaches& caches) {
  const auto waiting = caches.not_ready();
  if (waiting.empty()) co_return Status();
  std::string names;
  for (const auto& prefix : waiting) names += (names.empty() ? "" : " ") + prefix;
  co_return Status(Reason::kInternalError, std::to_string(waiting.size()) + " informers not started yet: [" + names + "]");
}

Task<Status> not_shutting_down(const Signal& shutdown_initiated) {
  if (!shutdown_initiated.fired()) co_return Status();
  co_return Status(Reason::kInternalError, "process is shutting down");
}

std::shared_ptr<HealthCheck> store_check(std::string name, std::string group, StorageBackend& storage, std::chrono::nanoseconds timeout) {
  return make_health_check(
      std::move(name), [store = &storage, timeout] { return store_answers(*store, timeout); }, std::move(group));
}

}  // namespace

std::shared_ptr<HealthCheck> loopback_certificate_check(std::chrono::system_clock::time_point expires) {
  return make_health_check("loopback-serving-certificate", [expires] { return not_later_than(expires); });
}

Status add_host_checks(HealthRegistry& registry, HealthCheckParts parts) {
  const TrackedCaches* caches = &parts.caches;
  struct Row {
    std::shared_ptr<HealthCheck> check;
    HealthEndpoints where;
  };
  std::vector<Row> rows = {
      {ping_check(), {}},
      {make_log_check({.flush = flush_logs}), {}},
      {loopback_certificate_check(parts.loopback_expires), kNotReady},
      {store_check("etcd", "etcd", parts.storage, parts.healthcheck_timeout), {}},
      {store_check("etcd-readiness", "etcd-readiness", parts.storage, parts.readycheck_timeout), kReadyOnly},
      {make_health_check("informer-sync", [caches] { return caches_are_loaded(*caches); }), kReadyOnly},
  };
  for (std::size_t i = 0; i < parts.other_stores.size(); ++i) {
    const std::string number = std::to_string(i);
    StorageBackend& store = *parts.other_stores[i];
    rows.push_back({store_check("etcd-override-" + number, "etcd", store, parts.healthcheck_timeout), {}});
    rows.push_back({store_check("etcd-override-readiness-" + number, "etcd-readiness", store, parts.readycheck_timeout), kReadyOnly});
  }
  for (const auto& row : rows) {
    if (Status status = registry.add(row.check, row.where); !status.ok()) return status;
  }
  return {};
}

bool is_upstream_hook(std::string_view name) {
  return std::any_of(std::begin(kKnownOrder), std::end(kKnownOrder),
                     [name](std::string_view check) { return check.starts_with(kHookCheck) && check.substr(kHookCheck.size()) == name; });
}

Status add_in_known_order(HealthRegistry& registry, std::vector<PlacedCheck> checks) {
  std::stable_sort(checks.begin(), checks.end(),
                   [](const PlacedCheck& a, const PlacedCheck& b) { return place_of(a.check->name()) < place_of(b.check->name()); });
  for (auto& row : checks) {
    if (Status status = registry.add(std::move(row.check), row.where); !status.ok()) return status;
  }
  return {};
}

Status add_shutdown_check(HealthRegistry& registry, const Signal& shutdown_initiated) {
  const Signal* signal = &shutdown_initiated;
  return registry.add(make_health_check("shutdown", [signal] { return not_shutting_down(*signal); }), kReadyOnly);
}

}  // namespace backplane
