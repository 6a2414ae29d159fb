// A write that turns out to create what it names: whether its user may do that.
//
// Thread-safety: any thread; asks the composed authorizer.
#pragma once

#include "backplane/request.hpp"
#include "backplane/status.hpp"
#include "backplane/task.hpp"
#include "endpoints/resource.hpp"

namespace backplane::endpoints {

// Asks for `create` what was allowed as something else; a call that is no request has not been asked for anything.
// Errors: kForbidden as for a request that is refused, with the authorizer's reason; kInternalError when it failed or there is none.
Task<Status> may_create(const Resource& resource, const RequestContext& context);

}  // namespace backplane::endpoints
