// Connections through a proxy by HTTP CONNECT, or, on a Unix socket, by gRPC (konnectivity).
//
// Thread-safety: any thread.
// Errors:        kServiceUnavailable with Go's messages.
#pragma once

#include <memory>
#include <string>

#include "backplane/net/client.hpp"
#include "net/egress/tls_tunnel.hpp"

namespace backplane::egress {

// A Unix socket's path, or a host and a port, with TLS or without.
struct ProxyAddress {
  std::string path;
  std::string host, port;
  std::shared_ptr<const ProxyTls> tls = {};  // null: no proxy
  bool grpc = false;
  std::string text() const { return path.empty() ? host + ":" + port : path; }
};

// At most kMostDials at once; further ones wait.
constexpr std::size_t kMostDials = 32;
DialFunction connect_through(ProxyAddress proxy);

}  // namespace backplane::egress
