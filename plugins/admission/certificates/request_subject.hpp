// The subject that a CertificateSigningRequest asks for.
//
// Thread-safety: pure function.
// Errors:        kBadRequest: no PEM block CERTIFICATE REQUEST, or its content is not a PKCS#10 request.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/status.hpp"

namespace backplane::admission::certificates {

struct RequestSubject {
  std::vector<std::string> organizations;
  std::string common_name;
};
// `base64`: spec.request, PEM in base64.
Result<RequestSubject> read_request_subject(std::string_view base64);

}  // namespace backplane::admission::certificates
