#include "frame/leadership.hpp"

#include <algorithm>

#include "backplane/core/metrics.hpp"
#include "backplane/kit/server_identity.hpp"

namespace backplane::controllers {
namespace {

constexpr std::string_view kSystem = "kube-system";
constexpr std::string_view kManagerLease = "kube-controller-manager";
constexpr std::string_view kOwnLease = "backplane-controllers";

GroupVersionResource leases() { return {"coordination.k8s.io", "v1", "leases"}; }

void observe(LeaseClock& clock, const Indexer& leases, std::string_view name) {
  const ObjectRef entry = leases.get(object_key(kSystem, name));
  if (entry == nullptr) return clock.observe(nullptr, LeaseClock::Clock::now(), unix_now());
  const Object lease = decode(*entry, json::storage_ptr());
  clock.observe(&lease, LeaseClock::Clock::now(), unix_now());
}

// Waits until another hook has written RBAC's bootstrap roles, which grant the controllers' rights. Without RBAC this check does not exist
// (404), and the wait ends.
Task<void> wait_for_roles(Host& host) {
  constexpr int kLooks = 400;
  constexpr std::chrono::milliseconds kPause{25};
  const auto client = host.client();
  for (int i = 0; i < kLooks && !host.stop_signal().fired(); ++i) {
    HttpCall call;
    call.target = "/readyz/poststarthook/rbac/bootstrap-roles";
    auto answer = co_await client->call(std::move(call));
    if (answer.ok() && ((*answer)->code() == 200 || (*answer)->code() == 404)) co_return;
    auto pausing = sleep_for(kPause);
    co_await std::move(pausing);
  }
}

void show_leader(bool leads) {
  static Metric& leader = Metric::gauge("leader_election_master_status",
                                        "[ALPHA] Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 "
                                        "indicates master. 'name' is the string used to identify the lease. Please make sure to group by "
                                        "name.",
                                        {"name"});
  leader.set({kOwnLease}, leads ? 1 : 0);
}

}  // namespace

Leadership::Leadership(Host& host, bool shared_store, Callbacks callbacks)
    : host_(host),
      shared_store_(shared_store),
      callbacks_(std::move(callbacks)),
      identity_(kit::host_name() + "_" + new_uid()),
      api_(host.client()) {}

Task<void> Leadership::run() {
  const auto self = shared_from_this();
  const bool followed = host_.resource_enabled(leases());
  if (followed) {
    leases_ = SharedInformer::make("controller-leases", list_watch(host_, leases(), std::string(kSystem)), host_.logger());
    const std::weak_ptr<Leadership> weak = self;
    const auto note = [weak](const ObjectRef& lease) {
      const auto leadership = weak.lock();
      if (leadership && (lease->name() == kManagerLease || lease->name() == kOwnLease)) leadership->wake();
    };
    ResourceEventHandler handler;
    handler.on_add = [note](const ObjectRef& lease, bool) { note(lease); };
    handler.on_update = [note](const ObjectRef&, const ObjectRef& lease) { note(lease); };
    handler.on_delete = [note](const ObjectRef& lease, bool) { note(lease); };
    leases_->add_event_handler(std::move(handler));
    host_.spawn("controller-leases", leases_->run());
  }
  host_.stop_signal().on_fire([weak = std::weak_ptr<Leadership>(self)] {
    const auto leadership = weak.lock();
    if (!leadership) return;
    if (leadership->leases_) leadership->leases_->stop();
    leadership->host_.executor().post([leadership] { leadership->wake(); });
  });
  if (followed) {
    const bool synced = co_await leases_->wait_synced();
    if (!synced) co_return;
  }
  auto waiting = wait_for_roles(host_);
  co_await std::move(waiting);
  while (!host_.stop_signal().fired()) {
    woken_ = false;
    auto deciding = decide();
    const auto time = co_await std::move(deciding);
    auto pausing = pause(time);
    co_await std::move(pausing);
  }
  set_active(false);
}

Task<std::optional<std::chrono::nanoseconds>> Leadership::decide() {
  if (resigned_) co_return std::nullopt;
  if (leases_) observe(manager_, leases_->indexer(), kManagerLease);
  const auto left = manager_.left(Clock::now());
  const bool held = left.count() > 0;
  if (held != other_manager_leads_) {
    host_.logger().info(held ? "controllers do not run: a kube-controller-manager holds its lease holder=" + quoted(manager_.holder())
                             : "no kube-controller-manager holds its lease any longer");
    other_manager_leads_ = held;
  }
  if (held) {
    set_active(false);
    if (renewed_) {
      auto releasing = write_own(true);
      Status released = co_await std::move(releasing);
      static_cast<void>(released.ok());
    }
    co_return left;
  }
  if (!shared_store_ || !leases_) {
    set_active(true);
    co_return std::nullopt;
  }
  auto holding = hold_lease();
  const bool own = co_await std::move(holding);
  set_active(own && !resigned_);
  co_return own ? kRetry : std::max<std::chrono::nanoseconds>(own_.left(Clock::now()), kRetry);
}

Task<bool> Leadership::hold_lease() {
  // The informer also reports this server's own writes, which must not cause another write.
  if (renewed_ && Clock::now() - *renewed_ < kRenewEvery) co_return true;
  observe(own_, leases_->indexer(), kOwnLease);
  const bool free = own_.left(Clock::now()).count() == 0;
  const bool ours = own_.holder() == identity_;
  if (!ours && !free) co_return false;
  auto writing = write_own(false);
  Status written = co_await std::move(writing);
  if (written.ok()) co_return true;
  host_.logger().debug("renewing the lease of the controllers failed error=" + quoted(written.message()));
  // The informer may not have this server's last write yet; a conflict because of that is harmless.
  co_return renewed_&& Clock::now() - *renewed_ < kRenewDeadline;
}

Task<Status> Leadership::write_own(bool release) {
  auto read = co_await api_.get(leases(), std::string(kSystem), std::string(kOwnLease));
  const bool absent = !read.ok() && read.status().code() == 404;
  if (!read.ok() && (!absent || release)) co_return std::move(read).status();
  Object lease;
  if (absent) {
    lease["metadata"] = Object{{"name", kOwnLease}, {"namespace", kSystem}};
  } else {
    lease = std::move(*read);
  }
  Object& spec = ensure_object(lease, "spec");
  const std::string holder(get_string(spec, "holderIdentity"));
  if (holder != identity_) {
    LeaseClock other;
    other.observe(&lease, Clock::now(), unix_now());
    if (release) {
      renewed_.reset();
      co_return Status();
    }
    // The informer's state may be older than the state that was read.
    if (other.left(Clock::now()).count() > 0 && own_.holder() != holder) co_return conflict("", "leases", kOwnLease, "held by " + holder);
    spec["leaseTransitions"] = get_int(spec, "leaseTransitions").value_or(-1) + 1;
    spec["acquireTime"] = now_micro_rfc3339();
  }
  spec["holderIdentity"] = release ? std::string() : identity_;
  spec["leaseDurationSeconds"] = release ? 1 : static_cast<std::int64_t>(kDuration.count());
  spec["renewTime"] = now_micro_rfc3339();
  Result<Object> written;
  if (absent) {
    written = co_await api_.create(leases(), std::string(kSystem), std::move(lease));
  } else {
    written = co_await api_.update(leases(), std::string(kSystem), std::move(lease));
  }
  if (!written.ok()) co_return std::move(written).status();
  if (release) {
    renewed_.reset();
  } else {
    renewed_ = Clock::now();
  }
  co_return Status();
}

Task<Status> Leadership::resign() {
  const auto self = shared_from_this();
  resigned_ = true;
  set_active(false);
  if (!renewed_) co_return Status();
  auto releasing = write_own(true);
  co_return co_await std::move(releasing);
}

void Leadership::set_active(bool active) {
  if (active == active_) return;
  active_ = active;
  if (shared_store_) show_leader(active);
  if (active) {
    callbacks_.begin();
  } else {
    callbacks_.end();
  }
}

void Leadership::wake() {
  woken_ = true;
  if (pause_) pause_->set(true);
}

Task<void> Leadership::pause(std::optional<std::chrono::nanoseconds> time) {
  if (woken_ || host_.stop_signal().fired()) co_return;
  pause_.emplace();
  const Promise<bool> over = *pause_;
  std::function<void()> cancel;
  if (time) cancel = host_.executor().after(*time, [over] { over.set(true); });
  co_await over.future();
  if (cancel) cancel();
  pause_.reset();
}

}  // namespace backplane::controllers
