// Admission of an object that has managers: plugins that look into their record are shown whole trees, and what they leave of it must be
// readable.
//
// Thread-safety: one request.
// Lifetime:      borrows everything until it is awaited to the end.
// Errors:        the runner's.
#pragma once

#include "registry/write_admission.hpp"

namespace backplane::registry {

// True if a plugin of the runner reads managedFields.
bool looks_at_managers(const AdmissionRunner& runner);

// A record that cannot be read any more is put back as it was, and the client is warned.
Task<Status> guarded_admit(AdmissionRunner& runner, AdmissionAttributes& attributes, RequestContext& context, bool sorted_keys);
Task<Status> guarded_validate(AdmissionRunner& runner, AdmissionAttributes& attributes);
Task<Result<WriteAdmission::Begun>> guarded_begin(WriteAdmission& runner, AdmissionAttributes& attributes);

}  // namespace backplane::registry
