// Converts an object to another version of its kind (Host::convert).
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

// Returns `object` as a reader of the version `to` gets it, with that version's defaults. `storage`: serves the kind in the version `to`;
// null: that version is not served. `scheme` converts kinds whose storage is not one of the host's; it may be null.
Task<Result<Object>> convert_served(std::shared_ptr<RestStorage> storage, std::shared_ptr<const Scheme> scheme, GroupVersionKind to,
                                    Object object);

}  // namespace backplane
