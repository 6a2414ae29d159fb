// Lists objects of a resource that this process serves, without authorization and admission.
//
// Thread-safety: any executor.
// Lifetime:      borrows the host until it is awaited to the end.
// Errors:        those of the storage; a resource that is not served has no objects.
#pragma once

#include <string>
#include <vector>

#include "backplane/core/meta.hpp"
#include "backplane/core/object.hpp"
#include "backplane/core/task.hpp"
#include "backplane/host.hpp"

namespace backplane::admission::quota {

// `resource_version`: empty for the newest state, "0" for a cached one. `transient_objects`: as in ListOptions.
Task<Result<std::vector<ObjectRef>>> stored_list(Host& host, GroupVersionResource resource, std::string ns, std::string resource_version,
                                                 bool transient_objects = false);

}  // namespace backplane::admission::quota
