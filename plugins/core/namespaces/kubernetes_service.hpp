// The service `kubernetes` of namespace default, by which programs inside the cluster find this server, and its endpoints and slice. As in
// upstream's kubernetesservice controller and its endpoint reconcilers, the addresses are those of all servers of the store.
//
// Thread-safety: one executor; start() and stop() are the hooks of that name.
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

  // Creates the service; a task maintains service and endpoints from then on, the endpoints once the server is ready.
  Task<Status> start(PostStartHookContext context);
  // Removes this server's address from the endpoints; nothing is written afterwards. An error is logged: it must not fail a shutdown.
  Task<Status> stop();

 private:
  Task<void> run(Signal& stop);
  Task<Status> make_service();
  // A change of the endpoints; false: there is nothing to change.
  using Change = std::function<bool(Object& endpoints)>;

  Task<Status> reconcile(bool present);
  Task<Result<Change>> change_by_leases(bool present);
  Change change_by_count(bool present) const;
  // The endpoints after the change; empty: there are none.
  Task<Result<Object>> reconcile_endpoints(Change change);
  Task<Status> reconcile_slice(Object endpoints);
  Task<void> remove_endpoints();
  bool keeps_endpoints() const;

  Host& host_;
  KubernetesService service_;
  const std::optional<MasterLeases> leases_;
  std::optional<ApiClient> client_;  // since start()
  kit::RewritePause pauses_;         // other servers may listen at another port
  bool busy_ = false;                // a pass runs
  bool stopped_ = false;
};

}  // namespace backplane::core
