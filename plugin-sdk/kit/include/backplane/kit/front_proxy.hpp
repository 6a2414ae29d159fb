// Proxies requests to servers that authenticate this server by its client certificate (--proxy-client-cert-file) and accept the identity
// headers that it sends (X-Remote-User …).
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

// Returns the client configuration for such a server: the proxy's certificate, shared connections, no time limit other than that of the
// request. The caller sets `server` and the certificate authority.
ClientConfig front_proxy_client(Host& host);

// Builds the ProxyCall of one request.
class FrontProxy {
 public:
  // Reads the --requestheader-… flags. Headers with the names in these flags are not forwarded if the client sends them.
  explicit FrontProxy(Host& host);

  // Returns the call that forwards `exchange` to `address` ("host:port") with the identity of the request's user.
  ProxyCall call(std::shared_ptr<HttpClient> backend, const std::string& address, const RequestContext& context,
                 const Exchange& exchange) const;

 private:
  bool claims(std::string_view header) const;

  std::vector<std::string> names_, prefixes_;  // in lower case
};

// Sends a plain-text response, as Error of Go's net/http does.
Task<void> answer_text(Exchange& exchange, int code, std::string text);

}  // namespace BACKPLANE_API
}  // namespace backplane
