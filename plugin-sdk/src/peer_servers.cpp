#include "backplane/peer_servers.hpp"

#include "backplane/host.hpp"

namespace backplane BACKPLANE_API {

PeerServers::~PeerServers() = default;
PeerKeeper::~PeerKeeper() = default;

Status register_peer_servers(Host& host, std::shared_ptr<PeerServers> peers) {
  auto* keeper = dynamic_cast<PeerKeeper*>(&host);
  if (keeper == nullptr) return service_unavailable("this host has no place for peer servers");
  return keeper->register_peer_servers(std::move(peers));
}

}  // namespace BACKPLANE_API
