// Lets peers read what this server serves: as system:apiserver, which their certificate as a front proxy lets them be.
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
