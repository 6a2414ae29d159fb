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

// The documents of a group version that its server has returned.
struct RemoteDocuments : ForwardedDocuments {
  std::string openapi_v2_etag;  // ETag of the whole document, from its server
};
using RemoteDocumentsRef = std::shared_ptr<const RemoteDocuments>;

// The state that all handlers of an APIService share. A handler is made for each change of the documents, and these change more often than
// the APIService.
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
