// A proxy with TLS: the connection to it, and a relay between it and a plain socket, so that the caller can speak TLS to its target
// through the tunnel.
//
// Thread-safety: any thread; a stream belongs to one.
// Lifetime:      a relay has a thread, which ends when either side closes; kMostTunnels run at once.
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

// Each costs a thread.
constexpr int kMostTunnels = 1024;

struct ProxyTls {
  std::shared_ptr<SSL_CTX> context;
  std::string server_name;  // name in the proxy's certificate
};
// Makes the context from the files of a tlsConfig.  `ca_bundle` may be empty: the system's authorities.
Result<std::shared_ptr<SSL_CTX>> read_proxy_tls(const std::string& ca_bundle, const std::string& client_cert,
                                                const std::string& client_key);

// Sends and receives bytes during the CONNECT request.
class ProxyStream {
 public:
  virtual ~ProxyStream() = default;
  virtual bool send_all(std::string_view bytes) = 0;
  // False: the other side has closed, or did not respond in time.
  virtual bool read_byte(char& out) = 0;
  // Returns a plain socket that is relayed to the proxy from here on.
  virtual Result<int> into_socket() = 0;
};

// A socket whose other end `relay` serves, on a new thread.
Result<int> relayed(std::function<void(Socket other_end)> relay);

std::unique_ptr<ProxyStream> plain_stream(Socket socket);
Result<std::unique_ptr<ProxyStream>> tls_stream(Socket socket, const ProxyTls& tls);

}  // namespace backplane::egress
