// Allows peers to read the discovery documents /api and /apis. A peer is the user system:apiserver. The host assigns this name to the
// server's calls to itself, to clients whose certificate has this name, and to users for whom a verified front proxy sends this name. It
// never assigns it to users that a plugin authenticates.
//
// Thread-safety: any executor.
// Errors:        none. The authorizer has no opinion on other requests.
#pragma once

#include <memory>

#include "backplane/points/authentication.hpp"
#include "backplane/points/authorization.hpp"

namespace backplane::core {

std::shared_ptr<Authorizer> make_peer_authorizer();

}  // namespace backplane::core
