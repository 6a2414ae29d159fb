// Forwards requests of a group version to the server that an APIService names (kube-aggregator's proxyHandler), with the caller's identity.
//
// Thread-safety: handle() on any executor; only the availability of the server changes.
// Lifetime:      shared by the route table and the running requests.
// Errors:        in plain text, as upstream's: 503 "service unavailable" while the APIService is not available or its service is
//                not found, 500 for a transport that cannot be made, 503 for other errors of the call.
#pragma once

#include <atomic>
#include <memory>

#include <backplane/kit/front_proxy.hpp>
#include <backplane/net/forwarded_documents.hpp>
#include <backplane/points/http.hpp>

#include "remote_backend.hpp"

namespace backplane {

// The server's documents of the group version.
struct RemoteDocuments : ForwardedDocuments {
  std::string openapi_v2_etag;  // ETag of the whole document, from its server
};
using RemoteDocumentsRef = std::shared_ptr<const RemoteDocuments>;

// Shared by all handlers of an APIService: documents change more often than it.
struct ProxyState {
  std::shared_ptr<const kit::FrontProxy> front;
  std::shared_ptr<RemoteBackend> backend;
  bool reject_redirects = true;
  std::atomic<bool> available{false};
};

class ProxyHandler final : public HttpHandler {
 public:
  explicit ProxyHandler(std::shared_ptr<ProxyState> state) : state_(std::move(state)) {}

  Task<void> handle(RequestContext& context, Exchange& exchange) override;

 private:
  const std::shared_ptr<ProxyState> state_;
};

}  // namespace backplane
