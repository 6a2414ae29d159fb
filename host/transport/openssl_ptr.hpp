// unique_ptr for OpenSSL's connections, beside what the SDK has, and its error queue as text.
//
// Thread-safety: the error queue is per thread.
#pragma once

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>

#include "backplane/kit/openssl_ptr.hpp"

namespace backplane {

using SslPtr = std::unique_ptr<SSL, OpenSslDeleter<SSL_free>>;
using SslContextPtr = std::unique_ptr<SSL_CTX, OpenSslDeleter<SSL_CTX_free>>;

// The newest error of this thread, and an empty queue after it.
inline std::string openssl_error() {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  if (code == 0) return "unknown TLS error";
  char text[256];
  ERR_error_string_n(code, text, sizeof text);
  return text;
}

}  // namespace backplane
