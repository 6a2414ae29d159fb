// One pass over the content of a namespace that is being deleted: pods first, then everything else.
//
// Thread-safety: any executor.
// Errors:        in the report; a resource that fails leaves the others as they would be without it.
#pragma once

#include "backplane/net/client.hpp"
#include "namespaces/deletion_conditions.hpp"

namespace backplane::core {

// Returns the seconds that the objects which are left are estimated to need; 0: nothing is left, or the report has failed().
Task<std::int64_t> empty_namespace(ApiClient& api, const Object& ns, DeletionReport& report);

}  // namespace backplane::core
