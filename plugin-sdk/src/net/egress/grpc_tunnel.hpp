// Connections through konnectivity's proxy server by gRPC over a Unix socket: one gRPC stream (ProxyService.Proxy) for each connection, as
// upstream's single-use tunnels.
//
// Thread-safety: any thread; a tunnel belongs to one.
// Lifetime:      a connection has a thread, which ends when either side closes; kMostTunnels (tls_tunnel.hpp) run at once.
// Errors:        kServiceUnavailable with konnectivity-client's text.
// Source:        sigs.k8s.io/apiserver-network-proxy/konnectivity-client/pkg/client.
#pragma once

#include <memory>
#include <string>

#include "backplane/core/status.hpp"
#include "net/egress/sockets.hpp"

namespace backplane::egress {

class GrpcTunnel;

// Begins the gRPC stream; `socket` is connected to the proxy server.
std::shared_ptr<GrpcTunnel> open_tunnel(Socket socket);
// Requests a connection to `address` from the proxy server; returns a socket that carries its bytes.
Result<int> dial_through(const std::shared_ptr<GrpcTunnel>& tunnel, const std::string& address);

}  // namespace backplane::egress
