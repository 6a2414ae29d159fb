// Targets of the identification of clients: client certificates, and impersonation headers.
#pragma once

#include <string>
#include <string_view>

namespace backplane::fuzz {

// The bytes are a certificate in DER.
void client_certificates(std::string_view bytes);
std::string client_certificate_seed();

// The bytes are lines "name: value".
void impersonation_headers(std::string_view bytes);

}  // namespace backplane::fuzz
