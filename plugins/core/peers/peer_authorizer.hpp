// Lets peers read what this server serves.  A peer is the user system:apiserver: the host gives this name to the server's own calls, to the
// bearer of a client certificate for it and to what a verified front proxy names so, never to a credential that a plugin authenticates.
//
// Thread-safety: any executor.
// Errors:        none: it has no opinion on anything else.
#pragma once

#include <memory>

#include "backplane/points/authentication.hpp"
#include "backplane/points/authorization.hpp"

namespace backplane::core {

std::shared_ptr<Authorizer> make_peer_authorizer();

}  // namespace backplane::core
