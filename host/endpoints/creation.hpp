// Creates by endpoints. may_create() authorizes updates that create their object; create_admitted() runs admission if the storage does not
// run it.
//
// Thread-safety: any thread. The functions call the authorizer and the server's admission.
#pragma once

#include "backplane/core/request.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/task.hpp"
#include "endpoints/resource.hpp"

namespace backplane::endpoints {

// Authorizes the verb "create" for a request that was authorized for another verb. Internal calls are not authorized.
// Errors:        kForbidden with the authorizer's reason, as for a refused request; kInternalError if the authorizer has failed or there is
//                none.
Task<Status> may_create(const Resource& resource, const RequestContext& context);

// The call of the storage that creates the object: Creater::create(), or NamedCreater::create_named() with a name.
enum class CreateCall : unsigned char { kCreate, kNamed };
// Creates the object: runs mutating admission, then validating admission, then calls the storage. A ValidatedCreater runs validating
// admission itself. If the storage runs admission itself, only the storage is called.
// Errors:        those of admission plugins and of the storage, unchanged.
Task<Result<ObjectRef>> create_admitted(const Resource& resource, RequestContext& context, CreateCall call, std::string name,
                                        Object& object, WriteOptions options);

}  // namespace backplane::endpoints
