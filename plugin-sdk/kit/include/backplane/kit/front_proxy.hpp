// Passing requests on to servers that know this one by its certificate (--proxy-client-cert-file), and so take its word for who is asking.
//
// Thread-safety: immutable; any executor.
// Lifetime:      values.
// Errors:        what goes wrong on the way is told in plain text with 503, as kube-aggregator and kube-apiserver's peers do.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/visibility.hpp"
#include "backplane/net/client.hpp"
#include "backplane/net/proxy.hpp"
#include "backplane/rest/host.hpp"

namespace backplane {
namespace kit BACKPLANE_API {

// How a server is reached that takes this one for a front proxy: requests of everybody share its connections, and have no time but their
// own. Where it is, and whom to believe there, is left to be said.
ClientConfig front_proxy_client(Host& host);

class FrontProxy {
 public:
  // The headers by which servers behind front proxies of this cluster know who is asking (--requestheader-…): whatever a client says in
  // them is not passed on.
  explicit FrontProxy(Host& host);

  // `exchange`, to the server at `address` ("host:port"), as whoever has asked.
  ProxyCall call(std::shared_ptr<HttpClient> backend, const std::string& address, const RequestContext& context,
                 const Exchange& exchange) const;

 private:
  bool claims(std::string_view header) const;

  std::vector<std::string> names_, prefixes_;  // in small letters
};

// As net/http's Error.
Task<void> answer_text(Exchange& exchange, int code, std::string text);

}  // namespace BACKPLANE_API
}  // namespace backplane
