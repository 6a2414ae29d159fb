// The admission plugins CertificateApproval and CertificateSigning. They check whether the user may approve or sign
// CertificateSigningRequests of a signer.
//
// Thread-safety: any thread.
// Lifetime:      `authorizer` outlives the plugins.
// Source:        kubernetes plugin/pkg/admission/certificates (approval, signing).
#pragma once

#include <memory>

#include "backplane/points/admission.hpp"
#include "backplane/points/authorization.hpp"

namespace backplane::admission::certificates {

// Updates of /approval need the verb approve on the signer.
std::shared_ptr<AdmissionPlugin> certificate_approval(Authorizer& authorizer);
// Updates of /status that change the certificate or the conditions need the verb sign on the signer.
std::shared_ptr<AdmissionPlugin> certificate_signing(Authorizer& authorizer);

}  // namespace backplane::admission::certificates
