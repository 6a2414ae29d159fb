#include "identity_lease.hpp"

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"
#include "backplane/kit/server_identity.hpp"

namespace backplane::coordination {
namespace {

using namespace kit;

// Upstream's: IdentityLeaseDurationSeconds and IdentityLeaseRenewIntervalPeriod, and the pauses of its lease controller.
constexpr int kSeconds = 3600;
constexpr std::chrono::seconds kInterval{10};
constexpr std::chrono::milliseconds kFirstPause{200}, kLongestPause{7000}, kBusyPause{10};

}  // namespace

IdentityLease::IdentityLease(Host& host, Identity identity)
    : host_(host), identity_(std::move(identity)), name_(server_id(identity_.hostname)), holder_(name_ + "_" + new_uid()) {}

void IdentityLease::set(Object& lease) const {
  Object& metadata = ensure_object(lease, "metadata");
  metadata["name"] = name_;
  metadata["namespace"] = kLeaseNamespace;
  Object& labels = ensure_object(metadata, "labels");
  labels[kIdentityLabel] = kit::kServerKind;
  labels["kubernetes.io/hostname"] = identity_.hostname;
  if (!identity_.peer_address.empty()) {
    ensure_object(metadata, "annotations")["kubernetes.io/peer-advertise-address"] = identity_.peer_address;
  }
  Object& spec = ensure_object(lease, "spec");
  if (!has(spec, "holderIdentity")) spec["holderIdentity"] = holder_;
  spec["leaseDurationSeconds"] = kSeconds;
  spec["renewTime"] = now_micro_rfc3339();
}

Task<Status> IdentityLease::remove(DeleteOptions options) {
  auto removed = co_await client_->remove(leases(), std::string(kLeaseNamespace), name_, std::move(options));
  const bool gone = removed.ok() || removed.status().code() == 404 || removed.status().code() == 409;
  co_return gone ? Status() : std::move(removed).status();
}

// No other client writes the lease, so the last known state is used without reading the lease again.
Task<Status> IdentityLease::renew() {
  const std::string ns(kLeaseNamespace);
  if (!last_) {
    auto have = co_await client_->get(leases(), ns, name_);
    if (!have.ok() && have.status().code() != 404) co_return std::move(have).status();
    if (have.ok()) last_ = std::move(*have);
  }
  const bool missing = !last_;
  Object lease = missing ? Object() : *last_;
  lease["kind"] = "Lease";
  lease["apiVersion"] = "coordination.k8s.io/v1";
  set(lease);
  auto writing = missing ? client_->create(leases(), ns, std::move(lease)) : client_->update(leases(), ns, std::move(lease));
  auto written = co_await std::move(writing);
  last_.reset();
  if (!written.ok()) co_return std::move(written).status();
  last_ = std::move(*written);
  const Object* const spec = get_object(*last_, "spec");
  const bool own = spec != nullptr && get_string(*spec, "holderIdentity") == holder_;
  uid_ = own ? std::string(meta_text(*last_, "uid")) : std::string();
  co_return Status();
}

Task<Status> IdentityLease::start(PostStartHookContext context) {
  client_.emplace(host_.client());
  Status removed = co_await remove({});
  if (!removed.ok()) host_.logger().error("error deleting old lease lease=" + name_ + ": " + removed.message());
  host_.spawn("identity-lease", run(context.stop));
  co_return Status();
}

Task<void> IdentityLease::run(Signal& stop) {
  Sleeper sleeper(stop);
  std::chrono::milliseconds pause = kFirstPause;
  bool running = !stop.fired();
  while (running && !stopped_) {
    busy_ = true;
    Status renewed = co_await renew();
    busy_ = false;
    // The first error is not logged, because the namespace may not exist yet.
    const bool worth_reporting = pause > kFirstPause && !stop.fired();
    if (!renewed.ok() && worth_reporting) host_.logger().error("failed to renew the identity lease, will retry: " + renewed.message());
    pause = renewed.ok() ? kFirstPause : std::min(2 * pause, kLongestPause);
    running = co_await sleeper.sleep(renewed.ok() ? std::chrono::milliseconds(kInterval) : pause);
  }
}

Task<Status> IdentityLease::stop() {
  stopped_ = true;
  if (!client_) co_return Status();
  // A running renewal must not write after this removal.
  while (busy_) co_await sleep_for(kBusyPause);
  if (uid_.empty()) co_return Status();
  // A new build of this plugin, which starts before the former one stops, has another lease of this name.
  DeleteOptions options;
  options.preconditions.uid = uid_;
  Status removed = co_await remove(std::move(options));
  if (!removed.ok()) host_.logger().error("unable to delete lease lease=" + name_ + ": " + removed.message());
  co_return Status();
}

}  // namespace backplane::coordination
