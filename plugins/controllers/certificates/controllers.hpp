// Controllers of CertificateSigningRequests.
//
// Thread-safety: the plugin's executor.
// Lifetime:      a controller runs until the term ends (frame/term.hpp).
// Errors:        the signer's start fails if its files cannot be used.
// Source:        k8s.io/kubernetes/pkg/controller/certificates.
#pragma once

#include "frame/context.hpp"

namespace backplane::controllers {

// Approves requests of kubelets for client certificates if a SubjectAccessReview of the requester allows it.
Status start_request_approver(const Context& context);
// Issues the certificates of approved requests for the signers of kubernetes.io with --cluster-signing-cert-file and -key-file.
Status start_request_signer(const Context& context);
// Deletes old requests.
Status start_request_cleaner(const Context& context);

}  // namespace backplane::controllers
