// One pass over the content of a namespace that is being deleted: pods first, then everything else.
//
// Thread-safety: any executor.
// Errors:        errors are stored in the report; a resource that fails does not affect the others.
#pragma once

#include "backplane/net/client.hpp"
#include "namespaces/deletion_conditions.hpp"

namespace backplane::core {

// Returns the estimated seconds until the remaining objects are gone; 0: no objects remain, or the report has failed().
Task<std::int64_t> empty_namespace(ApiClient& api, const Object& ns, DeletionReport& report);

}  // namespace backplane::core
