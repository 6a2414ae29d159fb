// The service `kubernetes` of namespace default, by which programs inside the cluster find this server, and its endpoints and slice: what
// upstream's kubernetesservice controller and its lease endpoint reconciler do: the addresses are those of all servers over the store.
//
// Thread-safety: one executor; start() and stop() are the hooks of that name.
// Lifetime:      shared by the hooks; its task ends when the stop signal fires.
// Errors:        what cannot be written is logged and tried again at the next pass.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backplane/client.hpp"
#include "backplane/host.hpp"
#include "namespaces/master_leases.hpp"

namespace backplane::core {

struct KubernetesService {
  std::string cluster_ip;         // the first address of the service range
  int node_port = 0;              // 0: the service is a ClusterIP
  int secure_port = 0;            // where the server listens
  std::string advertise_address;  // where the cluster reaches it; empty: no endpoints are kept
};

class KubernetesServiceController {
 public:
  KubernetesServiceController(Host& host, KubernetesService service, MasterLeases leases)
      : host_(host), service_(std::move(service)), leases_(std::move(leases)) {}

  // Makes the service; a task keeps service and endpoints from then on, the endpoints once the server is ready.
  Task<Status> start(PostStartHookContext context);
  // Takes this server's address out of the endpoints; nothing is written afterwards.  An error is logged: it must not fail a shutdown.
  Task<Status> stop();

 private:
  Task<void> run(Signal& stop);
  Task<Status> make_service();
  Task<Status> reconcile(bool present);
  Task<Status> reconcile_endpoints(std::vector<std::string> addresses);
  Task<Status> reconcile_slice(std::vector<std::string> addresses);
  Task<void> remove_endpoints();
  bool keeps_endpoints() const;

  Host& host_;
  KubernetesService service_;
  const MasterLeases leases_;
  std::optional<ApiClient> client_;  // since start()
  bool busy_ = false;                // a pass runs
  bool stopped_ = false;
};

// What `endpoints` must become so that they hold these addresses and `port` alone, or nothing where there are none.  False: they do.
bool set_kubernetes_endpoints(Object& endpoints, const std::vector<std::string>& addresses, int port);
// The same of its endpoint slice; the addresses are of its type.
bool set_kubernetes_slice(Object& slice, const std::vector<std::string>& addresses, int port);

}  // namespace backplane::core
