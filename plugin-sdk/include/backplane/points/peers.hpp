// API servers on the same store that serve resources that this server does not serve: during an upgrade, or if their plugins differ. A
// request for a resource that no plugin here serves is proxied to such a peer before it gets 404, and discovery merges the peers'
// resources.
//
// Thread-safety: every method from any thread.
// Lifetime:      shared; a running request keeps its handler.
// Errors:        none; an unknown peer serves nothing.
// Source:        kube-apiserver's mixed version proxy (KEP-4020).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backplane/core/json.hpp"
#include "backplane/core/request.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/visibility.hpp"
#include "backplane/points/http.hpp"

namespace backplane BACKPLANE_API {

// The discovery documents of the peers. Immutable; a change is published as a new object.
struct PeerDiscovery {
  // One peer: the id of its identity lease, and its resources.
  struct Server {
    std::string id;
    Array groups;  // APIGroupDiscovery of apidiscovery.k8s.io/v2
  };
  std::string own_id;           // the id of this server, which orders it among the peers
  std::vector<Server> servers;  // sorted by id
};
using PeerDiscoveryRef = std::shared_ptr<const PeerDiscovery>;

// The extension point; at most one plugin registers it (Host::register_peer_servers).
class PeerServers {
 public:
  virtual ~PeerServers();
  // The proxy for a request whose resource is not served here; null if no peer serves it, or if the request comes from a peer.
  virtual std::shared_ptr<HttpHandler> find(const RequestContext& context, const Exchange& exchange) = 0;
  // Null if no peer is known.
  virtual PeerDiscoveryRef discovery() const = 0;
};

}  // namespace BACKPLANE_API
