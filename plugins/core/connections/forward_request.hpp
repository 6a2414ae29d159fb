// proxy() for whoever answers errors himself.
//
// Thread-safety, lifetime: as proxy().
// Errors:                  what would have been answered in place of the backend's answer.
#pragma once

#include "backplane/net/proxy.hpp"

namespace backplane::core {

Task<Status> pass_on(RequestContext& context, Exchange& exchange, ProxyCall call);

}  // namespace backplane::core
