// The admission plugin ClusterTrustBundleAttest: the writer of a bundle with a signer needs the verb attest on that signer.
//
// Thread-safety: any thread.
// Lifetime:      `authorizer` outlives the plugin.
// Source:        kubernetes plugin/pkg/admission/certificates/ctbattest.
#pragma once

#include <memory>

#include "backplane/points/admission.hpp"
#include "backplane/points/authorization.hpp"

namespace backplane::admission::certificates {

// `enabled`: the gate ClusterTrustBundle.
std::shared_ptr<AdmissionPlugin> cluster_trust_bundle_attest(Authorizer& authorizer, bool enabled);

}  // namespace backplane::admission::certificates
