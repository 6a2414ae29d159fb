// Proxies requests to servers that authenticate this one by its certificate (--proxy-client-cert-file) and accept its identity headers
// (X-Remote-User …).
//
// Thread-safety: immutable; any executor.
// Lifetime:      values.
// Errors:        a failed call gets 503 with plain text, as from kube-aggregator and from kube-apiserver's peer proxy.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/visibility.hpp"
#include "backplane/host.hpp"
#include "backplane/net/client.hpp"
#include "backplane/net/proxy.hpp"

namespace backplane {
namespace kit BACKPLANE_API {

// The client configuration for such a server: the proxy's certificate, shared connections, no time limit besides the request's. The
// caller sets `server` and the certificate authority.
ClientConfig front_proxy_client(Host& host);

// Builds the ProxyCall of one request.
class FrontProxy {
 public:
  // Reads the --requestheader-… flags: headers of these names that a client sends are not forwarded.
  explicit FrontProxy(Host& host);

  // The call that forwards `exchange` to `address` ("host:port") with the identity of the request's user.
  ProxyCall call(std::shared_ptr<HttpClient> backend, const std::string& address, const RequestContext& context,
                 const Exchange& exchange) const;

 private:
  bool claims(std::string_view header) const;

  std::vector<std::string> names_, prefixes_;  // in small letters
};

// Sends a plain-text response like net/http's Error.
Task<void> answer_text(Exchange& exchange, int code, std::string text);

}  // namespace BACKPLANE_API
}  // namespace backplane
