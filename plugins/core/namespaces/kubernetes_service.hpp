// Maintains the service `kubernetes` in namespace default, its Endpoints and its EndpointSlice. Programs in the cluster connect to the API
// servers through this service. As in upstream's kubernetesservice controller and its endpoint reconcilers, the addresses are those of all
// servers of the store.
//
// Thread-safety: one executor. start() is a post-start hook, stop() a pre-shutdown hook.
// Lifetime:      shared by the hooks; its task ends when the stop signal fires.
// Errors:        a failed write is logged and retried at the next pass.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "backplane/host.hpp"
#include "backplane/kit/rewrite_pause.hpp"
#include "backplane/net/client.hpp"
#include "namespaces/master_leases.hpp"

namespace backplane::core {

struct KubernetesService {
  std::string cluster_ip;         // the first address of the service range
  int node_port = 0;              // 0: the service is a ClusterIP
  int secure_port = 0;            // the port on which the server listens
  std::string advertise_address;  // the address for clients in the cluster; empty: no endpoints are maintained
  int servers = 1;                // the number of servers, if there are no leases to count
};

class KubernetesServiceController {
 public:
  // Without leases each server maintains only its address, and limits the number of addresses to KubernetesService::servers.
  KubernetesServiceController(Host& host, KubernetesService service, std::optional<MasterLeases> leases)
      : host_(host), service_(std::move(service)), leases_(std::move(leases)) {}

  // Creates the service, and starts a task. Once the server is ready, the task maintains the service and its endpoints.
  Task<Status> start(PostStartHookContext context);
  // Removes this server's address from the endpoints; nothing is written afterwards. An error is only logged, because it must not fail a
  // shutdown.
  Task<Status> stop();

 private:
  Task<void> run(Signal& stop);
  Task<Status> make_service();
  // A change of the endpoints; false: there is nothing to change.
  using Change = std::function<bool(Object& endpoints)>;

  Task<Status> reconcile(bool present);
  Task<Result<Change>> change_by_leases(bool present);
  Change change_by_count(bool present) const;
  // Applies `change` and returns the resulting endpoints. Returns an empty object if there are none, or if the write is postponed
  // (pauses_).
  Task<Result<Object>> reconcile_endpoints(Change change);
  Task<Status> reconcile_slice(Object endpoints);
  Task<void> remove_endpoints();
  bool keeps_endpoints() const;

  Host& host_;
  KubernetesService service_;
  const std::optional<MasterLeases> leases_;
  std::optional<ApiClient> client_;  // set by start()
  kit::RewritePause pauses_;         // postpones repeated writes: servers with different ports would overwrite each other's endpoints
  bool busy_ = false;                // a pass runs
  bool stopped_ = false;
};

}  // namespace backplane::core
