// Names in certificates.
//
// Thread-safety: any thread.
#pragma once

#include <string>

#include "transport/certificates.hpp"

namespace backplane {

// Adds the subject alternative names of `spec`; false when one is not a name or an address.
bool add_alternative_names(X509* certificate, const CertificateSpec& spec);
// "0:0::1" → "::1"; text that is not an address is unchanged.
std::string canonical_address(const std::string& text);

}  // namespace backplane
