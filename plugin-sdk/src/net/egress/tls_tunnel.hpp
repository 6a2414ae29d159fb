// Connections to a proxy with TLS. A relay connects the TLS connection to a plain socket, so that the caller can use TLS to its target
// through the tunnel.
//
// Thread-safety: any thread; only one thread at a time uses a stream.
// Lifetime:      each relay has a thread, which ends when either side closes. At most kMostTunnels exist at the same time.
// Errors:        kServiceUnavailable; reading the files: kBadRequest with upstream's messages.
#pragma once

#include <openssl/ssl.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "backplane/core/status.hpp"
#include "net/egress/sockets.hpp"

namespace backplane::egress {

// Each tunnel needs a thread.
constexpr int kMostTunnels = 1024;

struct ProxyTls {
  std::shared_ptr<SSL_CTX> context;
  std::string server_name;  // name in the proxy's certificate
};
// Makes the context from the files of a tlsConfig.  If `ca_bundle` is empty, the system's trust store is used.
Result<std::shared_ptr<SSL_CTX>> read_proxy_tls(const std::string& ca_bundle, const std::string& client_cert,
                                                const std::string& client_key);

// Sends and receives bytes during the CONNECT request.
class ProxyStream {
 public:
  virtual ~ProxyStream() = default;
  virtual bool send_all(std::string_view bytes) = 0;
  // Reads one byte. Returns false if the other side has closed, or did not respond in time.
  virtual bool read_byte(char& out) = 0;
  // Returns a plain socket whose bytes are relayed to the proxy from now on.
  virtual Result<int> into_socket() = 0;
};

// Returns one end of a socket pair. `relay` runs on a new thread with the other end.
Result<int> relayed(std::function<void(Socket other_end)> relay);

std::unique_ptr<ProxyStream> plain_stream(Socket socket);
Result<std::unique_ptr<ProxyStream>> tls_stream(Socket socket, const ProxyTls& tls);

}  // namespace backplane::egress
