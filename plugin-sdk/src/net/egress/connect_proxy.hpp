// Connections through a proxy, with HTTP CONNECT, or with gRPC over a Unix socket (konnectivity).
//
// Thread-safety: any thread.
// Errors:        kServiceUnavailable with Go's messages.
#pragma once

#include <memory>
#include <string>

#include "backplane/net/client.hpp"
#include "net/egress/tls_tunnel.hpp"

namespace backplane::egress {

// The address of a proxy: the path of a Unix socket, or a host and a port, with or without TLS.
struct ProxyAddress {
  std::string path;
  std::string host, port;
  std::shared_ptr<const ProxyTls> tls = {};  // null: the proxy does not use TLS
  bool grpc = false;
  std::string text() const { return path.empty() ? host + ":" + port : path; }
};

// At most kMostDials dials run at the same time; further dials wait.
constexpr std::size_t kMostDials = 32;
DialFunction connect_through(ProxyAddress proxy);

}  // namespace backplane::egress
