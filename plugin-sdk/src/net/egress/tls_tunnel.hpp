// A proxy behind TLS: the connection to it, and the relay that gives its bytes to a socket without TLS, so that the caller can speak TLS
// to its target through it.
//
// Thread-safety: any thread; a stream belongs to one.
// Lifetime:      a relay has a thread, which ends when either side closes; kMostTunnels run at once.
// Errors:        kServiceUnavailable; reading the files: kBadRequest with upstream's words.
#pragma once

#include <openssl/ssl.h>

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
  std::string server_name;  // that the proxy's certificate has to name
};
// Of the files of a tlsConfig.  `ca_bundle` may be empty: the system's authorities.
Result<std::shared_ptr<SSL_CTX>> read_proxy_tls(const std::string& ca_bundle, const std::string& client_cert,
                                                const std::string& client_key);

// The bytes to and from a proxy while it is asked.
class ProxyStream {
 public:
  virtual ~ProxyStream() = default;
  virtual bool send_all(std::string_view bytes) = 0;
  // False: the other side has closed, or did not answer in time.
  virtual bool read_byte(char& out) = 0;
  // A socket whose bytes are the proxy's from here on.
  virtual Result<int> into_socket() = 0;
};

std::unique_ptr<ProxyStream> plain_stream(Socket socket);
Result<std::unique_ptr<ProxyStream>> tls_stream(Socket socket, const ProxyTls& tls);

}  // namespace backplane::egress
