// The subject alternative names in a certificate request.
//
// Thread-safety: pure function.
// Errors:        kBadRequest with the text of Go's crypto/x509 for names that crypto/x509 refuses. URIs are not parsed.
#pragma once

#include "backplane/core/status.hpp"

struct X509_req_st;

namespace backplane::certificates {

// The number of names of each kind.
struct AlternativeNames {
  int dns_names = 0, addresses = 0, emails = 0, uris = 0;
};
Result<AlternativeNames> read_alternative_names(const X509_req_st* request);

}  // namespace backplane::certificates
