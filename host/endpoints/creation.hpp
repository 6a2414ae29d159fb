// What is asked before something is created: whether the user may, where a write turns out to create what it names, and admission, where
// the storage does not ask it itself.
//
// Thread-safety: any thread; asks the composed authorizer and the server's admission.
#pragma once

#include "backplane/core/request.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/task.hpp"
#include "endpoints/resource.hpp"

namespace backplane::endpoints {

// Asks for `create` what was allowed as something else; a call that is no request has not been asked for anything.
// Errors: kForbidden as for a request that is refused, with the authorizer's reason; kInternalError when it failed or there is none.
Task<Status> may_create(const Resource& resource, const RequestContext& context);

// Mutating and validating admission of a create of `object` as `name`.
// Errors: those of the plugins, as they are.
Task<Status> admit_create(const Resource& resource, RequestContext& context, std::string name, Object& object, WriteOptions options);

}  // namespace backplane::endpoints
