// Smart pointers for SSL and SSL_CTX, in addition to those of the SDK, and the text of OpenSSL errors.
//
// Thread-safety: any thread; OpenSSL has one error queue for each thread.
#pragma once

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>

#include "backplane/net/openssl_ptr.hpp"
#include "backplane/net/openssl_reason.hpp"

namespace backplane {

using SslPtr = std::unique_ptr<SSL, OpenSslDeleter<SSL_free>>;
using SslContextPtr = std::unique_ptr<SSL_CTX, OpenSslDeleter<SSL_CTX_free>>;

// Returns the text of this thread's newest OpenSSL error and clears the error queue.
inline std::string openssl_error() {
  std::string words = openssl_reason("unknown TLS error");
  if (words == "ASN1 lib") words = "a PEM block whose contents cannot be decoded";
  return words;
}

}  // namespace backplane
