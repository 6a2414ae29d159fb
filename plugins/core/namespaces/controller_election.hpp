// Decides whether this server runs the namespace controller: it does if no kube-controller-manager is active and this server is the chosen
// server of those that share the store.
// A kube-controller-manager is active while the Lease kube-system/kube-controller-manager has a holder that renews it. Each server that has
// a namespace to empty keeps a record below /registry/backplane/namespacecontrollers/; the server whose identity sorts first is chosen.
// Records expire after ServerRecords::kLife, so another server takes over when the chosen server stops. Only a store in etcd can have
// several servers: without --etcd-servers there are no records.
// Thread-safety: one executor.
// Lifetime:      shared by the controller's workers; the host outlives it.
// Errors:        a lease or a record that cannot be read or written is logged at debug; then this server waits.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "backplane/host.hpp"
#include "backplane/net/client.hpp"
#include "namespaces/server_records.hpp"

namespace backplane::core {

// The state of the Lease of a kube-controller-manager, from periodic reads.  Its holder is alive if renewTime is recent by this
// machine's clock, or if the lease has changed within its duration while it was observed, so that a wrong clock alone does not decide.
class LeaseObserver {
 public:
  using Clock = std::chrono::steady_clock;
  // `lease`: null if there is none.  `now_unix`: seconds since the epoch.
  bool is_held(const Object* lease, Clock::time_point now, double now_unix);

 private:
  std::string seen_;
  std::optional<Clock::time_point> changed_;
};

class ControllerElection {
 public:
  static Result<std::shared_ptr<ControllerElection>> make(Host& host);
  ControllerElection(Host& host, std::optional<ServerRecords> records);

  // Reads the lease and the records at most once in kInterval.
  Task<bool> is_ours();
  // Removes this server's record, so that another server takes over at once.
  Task<Status> resign();

  static constexpr std::chrono::seconds kInterval{5};

 private:
  Task<Result<bool>> decide();
  Task<Result<bool>> controller_manager_works();
  Task<Result<bool>> is_chosen();

  Host& host_;
  std::optional<ApiClient> client_;  // set at the first call
  const std::optional<ServerRecords> records_;
  const std::string identity_;
  LeaseObserver lease_;
  std::optional<LeaseObserver::Clock::time_point> decided_;
  bool ours_ = false;
  bool deciding_ = false;
  bool recorded_ = false;
  bool resigned_ = false;
};

}  // namespace backplane::core
