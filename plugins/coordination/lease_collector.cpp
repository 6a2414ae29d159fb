#include "lease_collector.hpp"

#include <chrono>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/kit/server_identity.hpp"
#include "identity_lease.hpp"

namespace backplane::coordination {
namespace {

using namespace kit;

constexpr std::chrono::hours kInterval{1};  // upstream: IdentityLeaseGCPeriod

std::int64_t now_unix() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// The names of expired leases.
Task<Result<std::vector<std::string>>> expired_leases(std::shared_ptr<ApiClient> client) {
  ListOptions identities;
  auto selector = LabelSelector::parse(std::string(kIdentityLabel) + "=" + std::string(kit::kServerKind));
  if (!selector.ok()) co_return std::move(selector).status();
  identities.labels = std::move(*selector);
  auto listed = co_await client->list(leases(), std::string(kLeaseNamespace), std::move(identities));
  if (!listed.ok()) co_return std::move(listed).status();
  std::vector<std::string> names;
  each(*listed, "items", [&](const Object& lease, std::size_t) {
    if (is_expired(lease, now_unix())) names.emplace_back(meta_name(lease));
  });
  co_return names;
}

// Reads the lease again before removing it, because another server may have renewed or removed it.
Task<Status> remove_expired(std::shared_ptr<ApiClient> client, std::string name) {
  const std::string ns(kLeaseNamespace);
  auto lease = co_await client->get(leases(), ns, name);
  if (!lease.ok()) co_return lease.status().code() == 404 ? Status() : std::move(lease).status();
  if (!is_expired(*lease, now_unix())) co_return Status();
  DeleteOptions options;
  options.preconditions.resource_version = std::string(meta_text(*lease, "resourceVersion"));
  auto removed = co_await client->remove(leases(), ns, std::move(name), std::move(options));
  const bool settled = removed.ok() || removed.status().code() == 404 || removed.status().code() == 409;
  co_return settled ? Status() : std::move(removed).status();
}

Task<Status> collect_once(std::shared_ptr<ApiClient> client) {
  auto names = co_await expired_leases(client);
  if (!names.ok()) co_return std::move(names).status();
  Status out;
  for (const std::string& name : *names) {
    Status removed = co_await remove_expired(client, name);
    if (!removed.ok()) out = std::move(removed);
  }
  co_return out;
}

}  // namespace

bool is_expired(const Object& lease, std::int64_t now) {
  const Object& spec = object_or_empty(lease, "spec");
  const auto renewed = parse_rfc3339(get_string(spec, "renewTime"));
  const auto seconds = get_int(spec, "leaseDurationSeconds");
  return !renewed || !seconds || *renewed + *seconds < now;
}

Task<void> collect_leases(std::shared_ptr<ApiClient> client, Signal& stop, Logger& logger) {
  Sleeper sleeper(stop);
  bool running = !stop.fired();
  while (running) {
    Status done = co_await collect_once(client);
    if (!done.ok() && !stop.fired()) logger.error("deleting expired identity leases failed: " + done.message());
    running = co_await sleeper.sleep(kInterval);
  }
}

}  // namespace backplane::coordination
