// An object in another version of its kind: Host::convert.
//
// Thread-safety: any executor.
// Lifetime:      keeps the storage alive until it is awaited to the end.
// Errors:        kNotFound for a version that is not served; those of the conversion.
#pragma once

#include <memory>

#include "backplane/core/json.hpp"
#include "backplane/core/task.hpp"
#include "backplane/rest/roles.hpp"
#include "backplane/rest/scheme.hpp"

namespace backplane {

// `storage`: of the kind in the version `to`; null: it is not served. `scheme` converts kinds that are not stored by this host; it may be
// null. The result is the object that a reader of the version gets, with the version's defaults.
Task<Result<Object>> convert_served(std::shared_ptr<RestStorage> storage, std::shared_ptr<const Scheme> scheme, GroupVersionKind to,
                                    Object object);

}  // namespace backplane
