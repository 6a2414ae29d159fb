#include "app/health_checks.hpp"

#include "app/log_check.hpp"
#include "base/log.hpp"

namespace backplane {
namespace {

constexpr HealthEndpoints kReadyOnly{false, false, true};

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

}  // namespace

Status add_host_checks(HealthRegistry& registry, HealthCheckParts parts) {
  StorageBackend* storage = &parts.storage;
  const TrackedCaches* caches = &parts.caches;
  const auto health_timeout = parts.healthcheck_timeout;
  const auto ready_timeout = parts.readycheck_timeout;
  struct Row {
    std::shared_ptr<HealthCheck> check;
    HealthEndpoints where;
  };
  const Row rows[] = {
      {ping_check(), {}},
      {make_log_check({.flush = flush_logs}), {}},
      {make_health_check(
           "etcd", [storage, health_timeout] { return store_answers(*storage, health_timeout); }, "etcd"),
       {}},
      {make_health_check(
           "etcd-readiness", [storage, ready_timeout] { return store_answers(*storage, ready_timeout); }, "etcd-readiness"),
       kReadyOnly},
      {make_health_check("informer-sync", [caches] { return caches_are_loaded(*caches); }), kReadyOnly},
  };
  for (const auto& row : rows) {
    if (Status status = registry.add(row.check, row.where); !status.ok()) return status;
  }
  return {};
}

Status add_shutdown_check(HealthRegistry& registry, const Signal& shutdown_initiated) {
  const Signal* signal = &shutdown_initiated;
  return registry.add(make_health_check("shutdown", [signal] { return not_shutting_down(*signal); }), kReadyOnly);
}

}  // namespace backplane
