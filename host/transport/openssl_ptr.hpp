// unique_ptr for OpenSSL's connections, in addition to the SDK's, and its error queue as text.
//
// Thread-safety: the error queue is per thread.
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

// The text of this thread's newest OpenSSL error; clears the error queue.
inline std::string openssl_error() {
  std::string words = openssl_reason("unknown TLS error");
  if (words == "ASN1 lib") words = "a PEM block whose contents cannot be decoded";
  return words;
}

}  // namespace backplane
