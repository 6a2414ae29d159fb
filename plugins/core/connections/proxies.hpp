// nodes/proxy, pods/proxy and services/proxy: forward HTTP requests, with or without a path, to a kubelet, a pod or a service.
//
// Links in HTML that lead to the backend's own host are rewritten to lead through the proxy.
// Thread-safety: any executor.
// Errors:        upstream's: 400 for loopback and link-local addresses, 503 if a service has no endpoints or if the backend does not
//                respond.
#pragma once

#include <memory>

#include "backplane/rest/roles.hpp"
#include "connections/clients.hpp"
#include "connections/kubelets.hpp"

namespace backplane::core {

// Makes the clients for the proxies. As upstream, they do not verify certificates.
std::shared_ptr<Clients> make_proxy_clients(Host& host, DialFunction dial);

std::shared_ptr<RestStorage> make_node_proxy(std::shared_ptr<const Kubelets> kubelets, std::shared_ptr<Clients> clients);
std::shared_ptr<RestStorage> make_pod_proxy(std::shared_ptr<StandardStorage> pods, std::shared_ptr<Clients> clients);

struct ServiceProxyStores {
  std::shared_ptr<StandardStorage> services, endpoints, pods;
};
std::shared_ptr<RestStorage> make_service_proxy(ServiceProxyStores stores, std::shared_ptr<Clients> clients);

}  // namespace backplane::core
