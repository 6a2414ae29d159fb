// Creates by endpoints: authorization, if an update turns out to be a create; and admission, if the storage does not run it.
//
// Thread-safety: any thread; calls the composed authorizer and the server's admission.
#pragma once

#include "backplane/core/request.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/task.hpp"
#include "endpoints/resource.hpp"

namespace backplane::endpoints {

// Authorizes `create` for a request that was authorized for another verb; internal calls are not authorized.
// Errors: kForbidden as for a request that is refused, with the authorizer's reason; kInternalError when it failed or there is none.
Task<Status> may_create(const Resource& resource, const RequestContext& context);

// The call of the storage that creates an object: Creater::create, or NamedCreater::create_named with the name.
enum class CreateCall : unsigned char { kCreate, kNamed };
// Creates the object: mutating admission, validating admission, the storage; a ValidatedCreater runs the validating step itself. Calls the
// storage alone if it runs admission itself.
// Errors: those of the plugins and of the storage, unchanged.
Task<Result<ObjectRef>> create_admitted(const Resource& resource, RequestContext& context, CreateCall call, std::string name,
                                        Object& object, WriteOptions options);

}  // namespace backplane::endpoints
