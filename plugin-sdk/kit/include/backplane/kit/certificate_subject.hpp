// Organizations and common name of the subject of a certificate request, as Go's encoding/asn1 reads them.
//
//   auto subject = kit::read_certificate_subject(X509_REQ_get_subject_name(request));
//
// Attributes of types that are not text for Go (bit strings, universal strings) are ignored. The caller links OpenSSL.
// Thread-safety: pure function.
// Errors:        kBadRequest with Go's text, if a value of any attribute has a character that its type does not allow.
// Source:        encoding/asn1 (parseField of interface values), crypto/x509/pkix.
#pragma once

#include <string>
#include <vector>

#include "backplane/core/status.hpp"
#include "backplane/core/visibility.hpp"

struct X509_name_st;

namespace backplane BACKPLANE_API {
namespace kit BACKPLANE_API {

struct CertificateSubject {
  std::vector<std::string> organizations;
  std::string common_name;  // the last one
};
Result<CertificateSubject> read_certificate_subject(const X509_name_st* name);

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
