// proxy() for callers that send error responses themselves.
//
// Thread-safety, lifetime: as proxy().
// Errors:                  the error that proxy() would have sent instead of the backend's response.
#pragma once

#include "backplane/net/proxy.hpp"

namespace backplane::core {

Task<Status> forward_request(RequestContext& context, Exchange& exchange, ProxyCall call);

}  // namespace backplane::core
