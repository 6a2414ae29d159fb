// Organizations and common name of the subject of a certificate request, as Go's encoding/asn1 reads them.
//
//   auto subject = kit::read_certificate_subject(X509_REQ_get_subject_name(request));
//
// Attributes whose types are not text for Go (bit strings, universal strings) are ignored. Plugins that use this header link
// OpenSSL::Crypto.
//
// Thread-safety: pure function.
// Errors:        kBadRequest with Go's text if the value of an attribute contains a character that its type does not allow.
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
  std::string common_name;  // the value of the last common name attribute
};
Result<CertificateSubject> read_certificate_subject(const X509_name_st* name);

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
