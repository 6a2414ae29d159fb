// pods/exec, pods/attach and pods/portforward: connections to processes in a pod, through the kubelet of its node.
// Two kinds of connections are translated to SPDY for the kubelet: exec and attach by the WebSocket protocol v5, and portforward by SPDY
// inside of WebSocket. They are not translated if the node's kubelet supports them, or if the feature gate is off. All other bytes are
// forwarded unchanged.
// Thread-safety: any executor.
// Errors:        upstream's: 400 for a pod without a node and for a container that is missing or ambiguous, 403 for a client that may not
//                create such connections.
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
