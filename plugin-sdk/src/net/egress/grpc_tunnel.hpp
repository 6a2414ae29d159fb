// Connections through konnectivity's proxy server, with gRPC over a Unix socket. Each connection has one gRPC stream (ProxyService.Proxy),
// like upstream's single-use tunnels.
//
// Thread-safety: any thread; only one thread at a time uses a tunnel.
// Lifetime:      each connection has a thread, which ends when either side closes. At most kMostTunnels (tls_tunnel.hpp) exist at the same
//                time.
// Errors:        kServiceUnavailable with konnectivity-client's text.
// Source:        sigs.k8s.io/apiserver-network-proxy/konnectivity-client/pkg/client.
#pragma once

#include <memory>
#include <string>

#include "backplane/core/status.hpp"
#include "net/egress/sockets.hpp"

namespace backplane::egress {

class GrpcTunnel;

// Begins the gRPC stream. `socket` is connected to the proxy server.
std::shared_ptr<GrpcTunnel> open_tunnel(Socket socket);
// Requests a connection to `address` from the proxy server. Returns a socket that carries the bytes of that connection.
Result<int> dial_through(const std::shared_ptr<GrpcTunnel>& tunnel, const std::string& address);

}  // namespace backplane::egress
