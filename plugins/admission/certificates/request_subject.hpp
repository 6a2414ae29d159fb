// The subject of the certificate that a CertificateSigningRequest requests.
//
// Thread-safety: pure function.
// Errors:        kBadRequest if there is no PEM block CERTIFICATE REQUEST, or its content is not a PKCS#10 request; errors of the subject's
// reader.
#pragma once

#include <string_view>

#include "backplane/core/status.hpp"
#include "backplane/kit/certificate_subject.hpp"

namespace backplane::admission::certificates {

using RequestSubject = kit::CertificateSubject;
// `base64`: spec.request, PEM in base64.
Result<RequestSubject> read_request_subject(std::string_view base64);

}  // namespace backplane::admission::certificates
