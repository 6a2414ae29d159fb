// CertificateSigningRequests of certificates.k8s.io/v1beta1.
//
// Thread-safety: pure functions.
#pragma once

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"

namespace backplane::certificates {

// To v1.  A request without usages has those of v1beta1; one without a signer has the kubelet's signer that it is made for, or
// kubernetes.io/legacy-unknown.
Status signing_request_from_v1beta1(Object& request);

}  // namespace backplane::certificates
