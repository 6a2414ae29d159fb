// Runs admission on objects whose managedFields are raw values (raw_managers.hpp). Plugins that read managedFields get them parsed. After
// mutating admission, managedFields must still be valid.
//
// Thread-safety: one request.
// Lifetime:      borrows the arguments until the task has ended.
// Errors:        the runner's.
#pragma once

#include "registry/write_admission.hpp"

namespace backplane::registry {

// If managedFields are invalid after mutating admission, they are restored, and the client gets a warning.
Task<Status> guarded_admit(AdmissionRunner& runner, AdmissionAttributes& attributes, RequestContext& context, bool sorted_keys);
Task<Status> guarded_validate(AdmissionRunner& runner, AdmissionAttributes& attributes);
Task<Result<WriteAdmission::Begun>> guarded_begin(WriteAdmission& runner, AdmissionAttributes& attributes);

}  // namespace backplane::registry
