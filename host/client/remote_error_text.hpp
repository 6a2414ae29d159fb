// Error texts for connections to other servers, worded like those of Go's net, tls and x509 packages: clients of Kubernetes know those
// texts, and conditions and webhook errors quote them.
//
// Thread-safety: any thread.
#pragma once

#include <boost/system/error_code.hpp>
#include <string>

#include "backplane/net/certificate_flaws.hpp"
#include "transport/openssl_ptr.hpp"

namespace backplane {

// "connection refused"
std::string system_error_text(const boost::system::error_code& error);
// The flaws of the peer's certificates, even if they were not verified; after the handshake.
CertificateFlaws shown_flaws(SSL* ssl);
// Lets tls_error_text() see the certificate that is refused; before the handshake.
void keep_refused_certificate(SSL* ssl);
// The error of a failed handshake. `wanted`: the name that the certificate must have.
std::string tls_error_text(SSL* ssl, const std::string& wanted, const std::string& openssl_text);

}  // namespace backplane
