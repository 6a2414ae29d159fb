// Connections through a proxy that is asked by HTTP CONNECT.
//
// Thread-safety: any thread.
// Errors:        kServiceUnavailable with Go's words.
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
  std::shared_ptr<const ProxyTls> tls = {};  // null: none
  std::string text() const { return path.empty() ? host + ":" + port : path; }
};

// At most kMostDials at once; the others wait for their turn.
constexpr std::size_t kMostDials = 32;
DialFunction connect_through(ProxyAddress proxy);

}  // namespace backplane::egress
