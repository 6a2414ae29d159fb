#include "backplane/points/peers.hpp"

namespace backplane BACKPLANE_API {

PeerServers::~PeerServers() = default;

}  // namespace BACKPLANE_API
