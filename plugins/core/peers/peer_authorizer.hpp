// Lets peers read the served resources. A peer is the user system:apiserver. The host assigns this name to the server's calls to itself, to
// clients with a certificate for it, and to users that a verified front proxy names so; never to users that a plugin authenticates.
//
// Thread-safety: any executor.
// Errors:        none: it has no opinion on other requests.
#pragma once

#include <memory>

#include "backplane/points/authentication.hpp"
#include "backplane/points/authorization.hpp"

namespace backplane::core {

std::shared_ptr<Authorizer> make_peer_authorizer();

}  // namespace backplane::core
