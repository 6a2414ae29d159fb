// CertificateSigningRequests of certificates.k8s.io/v1beta1.
//
// Thread-safety: pure functions.
#pragma once

#include "backplane/core/json.hpp"
#include "backplane/core/status.hpp"

namespace backplane::certificates {

// Converts a request to v1. If it has no usages, sets the default usages of v1beta1. If it has no signer, sets the kubelet's signer for
// which the request is made, or kubernetes.io/legacy-unknown.
Status signing_request_from_v1beta1(Object& request);

}  // namespace backplane::certificates
