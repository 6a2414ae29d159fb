// Admission of a ResourceClaim's status: administrative access needs a labelled namespace, and with the gate
// DRAResourceClaimGranularStatusAuthorization a client needs permission for the parts of the status that it changes.
//
// Thread-safety: const; any thread.
// Lifetime:      the host outlives the plugin.
#pragma once

#include <memory>

#include "backplane/host.hpp"
#include "backplane/points/admission.hpp"

namespace backplane::resource {

// `granular`: the host's authorizer must permit resourceclaims/binding and resourceclaims/driver. `device_status`: the gate of
// status.devices. Errors of the plugin: kInvalid with a cause for each part that is not permitted.
std::shared_ptr<AdmissionPlugin> make_status_authorization(Host& host, bool granular, bool device_status);

}  // namespace backplane::resource
