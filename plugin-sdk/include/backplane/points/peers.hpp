// Peers: API servers that use the same store and serve resources that this server does not serve. Peers exist during an upgrade, or if the
// servers have different plugins. If no plugin of this server serves the resource of a request, the request is proxied to a peer that
// serves it; only if there is none, the client gets 404. Discovery merges the resources of the peers.
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
  std::string own_id;           // the id of this server, for its position in the order of all servers
  std::vector<Server> servers;  // sorted by id
};
using PeerDiscoveryRef = std::shared_ptr<const PeerDiscovery>;

// The extension point; at most one plugin registers it (Host::register_peer_servers).
class PeerServers {
 public:
  virtual ~PeerServers();
  // Returns the proxy for a request whose resource this server does not serve. Null if no peer serves the resource, or if a peer has sent
  // the request.
  virtual std::shared_ptr<HttpHandler> find(const RequestContext& context, const Exchange& exchange) = 0;
  // Returns the current documents; null if no peer is known.
  virtual PeerDiscoveryRef discovery() const = 0;
};

}  // namespace BACKPLANE_API
