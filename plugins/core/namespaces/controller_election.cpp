#include "namespaces/controller_election.hpp"

#include <algorithm>
#include <exception>
#include <vector>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/kit/server_identity.hpp"

namespace backplane::core {
namespace {

using namespace kit;

constexpr std::int64_t kDefaultDuration = 15;  // --leader-elect-lease-duration of kube-controller-manager
constexpr std::string_view kIdentityLabel = "apiserverIdentity";

double unix_now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

Object record_of(const std::string& identity) {
  Object out = server_record({});
  out["metadata"].get_object()["labels"].emplace_object()[kIdentityLabel] = identity;
  return out;
}

}  // namespace

bool LeaseObserver::is_held(const Object* lease, Clock::time_point now, double now_unix) {
  static const Object kNone;
  const Object& spec = object_or_empty(lease != nullptr ? *lease : kNone, "spec");
  const std::string holder(get_string(spec, "holderIdentity")), renewed(get_string(spec, "renewTime"));
  if (holder.empty()) {
    seen_.clear();
    changed_.reset();
    return false;
  }
  const std::int64_t duration = get_int(spec, "leaseDurationSeconds").value_or(kDefaultDuration);
  const std::string state = holder + "\n" + renewed;
  if (!seen_.empty() && seen_ != state) changed_ = now;
  seen_ = state;
  if (changed_ && now - *changed_ < std::chrono::seconds(duration)) return true;
  const auto since = parse_rfc3339(renewed);
  return since && now_unix - static_cast<double>(*since) < static_cast<double>(duration);
}

// Servers on one machine have the same server_id(), so the identity has a random suffix.
ControllerElection::ControllerElection(Host& host, std::optional<ServerRecords> records)
    : host_(host), records_(std::move(records)), identity_(server_id(host_name()) + "-" + random_suffix()) {}

Result<std::shared_ptr<ControllerElection>> ControllerElection::make(Host& host) {
  std::optional<ServerRecords> records;
  if (!host.flag("etcd-servers").value_or("").empty()) {
    auto made = ServerRecords::make(host, "backplane/namespacecontrollers");
    if (!made.ok()) return std::move(made).status();
    records = std::move(*made);
  }
  return std::make_shared<ControllerElection>(host, std::move(records));
}

Task<bool> ControllerElection::is_ours() {
  const auto now = LeaseObserver::Clock::now();
  if (resigned_ || deciding_ || (decided_ && now - *decided_ < kInterval)) co_return ours_;
  deciding_ = true;
  Result<bool> decided = false;
  try {
    auto deciding = decide();
    decided = co_await std::move(deciding);
  } catch (const std::exception& error) {
    decided = internal_error(error.what());
  }
  deciding_ = false;
  decided_ = LeaseObserver::Clock::now();
  if (!decided.ok()) host_.logger().debug("the namespace controller waits reason=" + backplane::quoted(decided.status().message()));
  const bool ours = decided.ok() && *decided && !resigned_;
  if (ours != ours_) {
    host_.logger().info(ours ? "the namespace controller runs on this server"
                             : "the namespace controller does not run on this server: another server does its work");
  }
  co_return ours_ = ours;
}

Task<Result<bool>> ControllerElection::decide() {
  auto reading = controller_manager_works();
  Result<bool> works = co_await std::move(reading);
  if (!works.ok()) co_return std::move(works).status();
  if (*works) co_return false;
  if (!records_) co_return true;
  auto choosing = is_chosen();
  co_return co_await std::move(choosing);
}

Task<Result<bool>> ControllerElection::is_chosen() {
  recorded_ = true;
  auto renewing = records_->renew(identity_, record_of(identity_));
  Status renewed = co_await std::move(renewing);
  if (!renewed.ok()) co_return renewed;
  std::string first = identity_;
  auto looking = records_->for_each_record([&first](const Object& record) {
    const std::string other(get_string(object_or_empty(object_or_empty(record, "metadata"), "labels"), kIdentityLabel));
    if (!other.empty()) first = std::min(first, other);
  });
  Status looked = co_await std::move(looking);
  if (!looked.ok()) co_return looked;
  co_return first == identity_;
}

Task<Result<bool>> ControllerElection::controller_manager_works() {
  const GroupVersionResource leases{"coordination.k8s.io", "v1", "leases"};
  if (!host_.resource_enabled(leases)) co_return false;
  if (!client_) client_.emplace(host_.client());
  auto lease = co_await client_->get(leases, "kube-system", "kube-controller-manager");
  if (!lease.ok() && lease.status().code() != 404) co_return std::move(lease).status();
  co_return lease_.is_held(lease.ok() ? &*lease : nullptr, LeaseObserver::Clock::now(), unix_now());
}

Task<Status> ControllerElection::resign() {
  resigned_ = true;
  ours_ = false;
  if (!recorded_) co_return Status();
  auto removing = records_->remove(identity_);
  co_return co_await std::move(removing);
}

}  // namespace backplane::core
