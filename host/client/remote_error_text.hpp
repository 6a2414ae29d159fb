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
// Returns the flaws of the server's certificates, even if the certificates are not verified. Called after the handshake.
CertificateFlaws shown_flaws(SSL* ssl);
// Stores the certificate that the handshake refuses, so that tls_error_text() can read it. Called before the handshake.
void keep_refused_certificate(SSL* ssl);
// Returns the error text of a failed handshake. `wanted`: the name that the certificate must have.
std::string tls_error_text(SSL* ssl, const std::string& wanted, const std::string& openssl_text);

}  // namespace backplane
