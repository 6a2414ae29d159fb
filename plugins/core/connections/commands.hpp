// pods/exec, pods/attach and pods/portforward: connections to processes in a pod, through the kubelet of its node.
// If client and kubelet both use SPDY, or WebSocket before v5, bytes are forwarded unchanged. WebSocket v5, and SPDY inside of WebSocket,
// are translated.
// Thread-safety: any executor.
// Errors:        upstream's: 400 for pods without a node and containers that cannot be chosen, 403 for clients that may not create
//                such connections.
#pragma once

#include <memory>

#include "backplane/rest/roles.hpp"
#include "connections/kubelets.hpp"

namespace backplane::core {

struct CommandOptions {
  std::shared_ptr<StandardStorage> pods;
  std::shared_ptr<const Kubelets> kubelets;
  Authorizer* authorizer = nullptr;
  // Feature gates, in upstream's names.
  bool authorize_create = true;       // AuthorizePodWebsocketUpgradeCreatePermission
  bool translate_commands = true;     // TranslateStreamCloseWebsocketRequests
  bool tunnel_port_forward = true;    // PortForwardWebsockets
  bool websockets_to_kubelet = true;  // ExtendWebSocketsToKubelet
};

std::shared_ptr<RestStorage> make_pod_exec(CommandOptions options);
std::shared_ptr<RestStorage> make_pod_attach(CommandOptions options);
std::shared_ptr<RestStorage> make_pod_port_forward(CommandOptions options);

}  // namespace backplane::core
