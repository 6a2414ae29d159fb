// Servers over the same store that serve what this one does not: while a cluster is changed from one version to another, or when its
// servers have different plugins.  What nobody serves here is asked of them before it is answered with 404, and discovery lists what they
// have beside what is served here (kube-apiserver's mixed version proxy).
//
// Thread-safety: every method from any thread.
// Lifetime:      shared; a request that has begun keeps its handler.
// Errors:        none of its own: who is not known serves nothing.
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

// What peers say of themselves.  It does not change; when something else is known there is another one.
struct PeerDiscovery {
  struct Server {
    std::string id;
    Array groups;  // APIGroupDiscovery (apidiscovery.k8s.io/v2), with the members that kind has and no others
  };
  std::string own_id;           // this server's, which has a place among theirs
  std::vector<Server> servers;  // by their ids
};
using PeerDiscoveryRef = std::shared_ptr<const PeerDiscovery>;

class PeerServers {
 public:
  virtual ~PeerServers();
  // Who passes a request on that is for a resource nobody serves here; null: no peer is known to serve it, or it has come from a peer.
  virtual std::shared_ptr<HttpHandler> find(const RequestContext& context, const Exchange& exchange) = 0;
  // Null: nothing is known of any.
  virtual PeerDiscoveryRef discovery() const = 0;
};

}  // namespace BACKPLANE_API
