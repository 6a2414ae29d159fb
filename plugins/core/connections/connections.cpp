#include "connections/connections.hpp"

#include "backplane/net/egress.hpp"
#include "connections/commands.hpp"
#include "connections/kubelets.hpp"
#include "connections/log.hpp"
#include "connections/proxies.hpp"

namespace backplane::core {
namespace {

bool gate(const Host& host, std::string_view name) {
  return host.flag("feature-gates." + std::string(name)) == std::optional<std::string>("true");
}

CommandOptions command_options(Host& host, const ConnectedStores& stores, std::shared_ptr<const Kubelets> kubelets) {
  CommandOptions out;
  out.pods = stores.pods;
  out.kubelets = std::move(kubelets);
  out.authorizer = &host.authorizer();
  out.authorize_create = gate(host, "AuthorizePodWebsocketUpgradeCreatePermission");
  out.translate_commands = gate(host, "TranslateStreamCloseWebsocketRequests");
  out.tunnel_port_forward = gate(host, "PortForwardWebsockets");
  out.websockets_to_kubelet = gate(host, "ExtendWebSocketsToKubelet");
  return out;
}

}  // namespace

Result<std::map<std::string, std::shared_ptr<RestStorage>>> make_connections(Host& host, const ConnectedStores& stores) {
  std::map<std::string, std::shared_ptr<RestStorage>> out;
  auto egress = EgressSelector::of(host);
  if (!egress.ok()) return std::move(egress).status();
  const DialFunction dial = (*egress)->dialer(EgressType::kCluster);
  auto kubelets = Kubelets::make(host, stores.nodes, dial);
  if (!kubelets.ok()) return std::move(kubelets).status();
  const auto clients = make_proxy_clients(host, dial);
  if (stores.nodes != nullptr) out["nodes/proxy"] = make_node_proxy(*kubelets, clients);
  if (stores.pods != nullptr) {
    const CommandOptions commands = command_options(host, stores, *kubelets);
    out["pods/attach"] = make_pod_attach(commands);
    out["pods/exec"] = make_pod_exec(commands);
    out["pods/log"] = make_pod_log(stores.pods, *kubelets, gate(host, "PodLogsQuerySplitStreams"));
    out["pods/portforward"] = make_pod_port_forward(commands);
    out["pods/proxy"] = make_pod_proxy(stores.pods, clients);
  }
  if (stores.services != nullptr && stores.endpoints != nullptr && stores.pods != nullptr) {
    out["services/proxy"] = make_service_proxy({stores.services, stores.endpoints, stores.pods}, clients);
  }
  return out;
}

}  // namespace backplane::core
