// Mutating admission of an object that has managers: what it leaves of their record must be readable.
//
// Thread-safety: one request.
// Lifetime:      borrows everything until it is awaited to the end.
// Errors:        the runner's.
#pragma once

#include "backplane/rest.hpp"

namespace backplane::registry {

// A record that cannot be read any more is put back as it was, and the client is warned.
Task<Status> guarded_admit(AdmissionRunner& runner, AdmissionAttributes& attributes, RequestContext& context, bool sorted_keys);

}  // namespace backplane::registry
