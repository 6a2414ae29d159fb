// The service `kubernetes` of namespace default, by which programs inside the cluster find this server, and its endpoints and slice: what
// upstream's kubernetesservice controller and endpoint reconciler do, for a store that one server owns.
//
// Thread-safety: one executor; start() and stop() are the hooks of that name.
// Lifetime:      shared by the hooks; its task ends when the stop signal fires.
// Errors:        what cannot be written is logged and tried again at the next pass.
#pragma once

#include <optional>
#include <string>

#include "backplane/client.hpp"
#include "backplane/host.hpp"

namespace backplane::core {

struct KubernetesService {
  std::string cluster_ip;         // the first address of the service range
  int node_port = 0;              // 0: the service is a ClusterIP
  int secure_port = 0;            // where the server listens
  std::string advertise_address;  // where the cluster reaches it; empty: no endpoints are kept
};

class KubernetesServiceController {
 public:
  KubernetesServiceController(Host& host, KubernetesService service) : host_(host), service_(std::move(service)) {}

  // Makes the service; a task keeps service and endpoints from then on, the endpoints once the server is ready.
  Task<Status> start(PostStartHookContext context);
  // Takes this server's address out of the endpoints; nothing is written afterwards.  An error is logged: it must not fail a shutdown.
  Task<Status> stop();

 private:
  Task<void> run(Signal& stop);
  Task<void> wait_until_ready(Signal& stop);
  Task<Status> make_service();
  Task<Status> reconcile(bool present);
  Task<Status> reconcile_endpoints(std::string address);
  Task<Status> reconcile_slice(std::string address);
  Task<void> remove_endpoints();
  bool keeps_endpoints() const;

  Host& host_;
  KubernetesService service_;
  std::optional<ApiClient> client_;  // since start()
  bool busy_ = false;                // a pass runs
  bool stopped_ = false;
};

// What `endpoints` must become so that they hold `address` and `port` alone, or nothing when the address is empty.  False: they do.
bool set_kubernetes_endpoints(Object& endpoints, const std::string& address, int port);
// The same of its endpoint slice, whose type is that of the address.
bool set_kubernetes_slice(Object& slice, const std::string& address, int port);

}  // namespace backplane::core
