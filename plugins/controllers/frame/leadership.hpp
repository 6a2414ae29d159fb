// Decides whether this server runs the controllers. No kube-controller-manager may hold its Lease. If several servers may share the store
// (etcd), this server must also hold the Lease kube-system/backplane-controllers. A server with an embedded store does not need that Lease.
//
// An informer watches both leases; between their changes nothing runs except the renewal of this server's lease.
// Thread-safety: the plugin's executor.
// Lifetime:      shared by its task and its hooks; the host outlives it.
// Errors:        a lease that cannot be written is retried; if that lasts longer than kRenewDeadline, the term ends.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "backplane/controller.hpp"
#include "backplane/host.hpp"
#include "frame/lease_clock.hpp"

namespace backplane::controllers {

class Leadership : public std::enable_shared_from_this<Leadership> {
 public:
  // The callbacks that begin and end a term.
  struct Callbacks {
    std::function<void()> begin, end;
  };
  // `shared_store`: other servers may run the controllers too.
  Leadership(Host& host, bool shared_store, Callbacks callbacks);

  // Watches the leases until the host stops.
  Task<void> run();
  // Ends the term and releases this server's lease.
  Task<Status> resign();

  static constexpr std::chrono::seconds kDuration{15}, kRenewDeadline{10}, kRenewEvery{5}, kRetry{2};

 private:
  using Clock = LeaseClock::Clock;
  // Starts or ends a term if necessary. Returns the time until the next check; nullopt: the next check follows a change of a lease.
  Task<std::optional<std::chrono::nanoseconds>> decide();
  Task<bool> hold_lease();
  Task<Status> write_own(bool release);
  void set_active(bool active);
  void wake();
  Task<void> pause(std::optional<std::chrono::nanoseconds> time);

  Host& host_;
  const bool shared_store_;
  const Callbacks callbacks_;
  const std::string identity_;
  ApiClient api_;
  std::shared_ptr<SharedInformer> leases_;
  LeaseClock manager_, own_;
  std::optional<Clock::time_point> renewed_;
  std::optional<Promise<bool>> pause_;
  bool woken_ = false;
  bool active_ = false;
  bool other_manager_leads_ = false;
  bool resigned_ = false;
};

}  // namespace backplane::controllers
