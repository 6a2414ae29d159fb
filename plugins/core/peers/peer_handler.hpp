// Forwards one request to one of the peers that serve its resource.
//
// Thread-safety: for one request, on its executor.
// Lifetime:      keeps the proxy.
// Errors:        503 with a Status if no address of these peers is known; 503 in plain text for errors of the call.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backplane/core/meta.hpp"
#include "backplane/points/http.hpp"

namespace backplane::core {

class PeerProxy;

// The header that marks a request of a peer, which must not be forwarded again.
inline constexpr const char* kPeerProxiedHeader = "x-kubernetes-peer-proxied";

class PeerHandler final : public HttpHandler {
 public:
  // `servers`: ids, at least one.
  PeerHandler(std::shared_ptr<PeerProxy> proxy, std::vector<std::string> servers, GroupVersionResource resource)
      : proxy_(std::move(proxy)), servers_(std::move(servers)), resource_(std::move(resource)) {}

  Task<void> handle(RequestContext& context, Exchange& exchange) override;

 private:
  Task<std::vector<std::string>> addresses() const;

  const std::shared_ptr<PeerProxy> proxy_;
  const std::vector<std::string> servers_;
  const GroupVersionResource resource_;
};

// Counts a request that a peer has served; for discovery the resource is empty.
void count_rerouted(int code, const GroupVersionResource& resource);

}  // namespace backplane::core
