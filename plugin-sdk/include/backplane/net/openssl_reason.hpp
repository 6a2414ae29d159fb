// OpenSSL errors as texts for log lines and messages, for plugins that link OpenSSL::Crypto.
//
// Thread-safety: any thread; OpenSSL's error queue is thread-local. Call openssl_reason() on the thread whose OpenSSL call has
//                failed, before the next OpenSSL call.
// Errors:        none. The text of a reason that is not listed here is OpenSSL's; if there is none, it contains the number of the reason.
#pragma once

#include <openssl/err.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace backplane {

// Returns the text for an OpenSSL reason: OpenSSL's own text, except for reasons that are clear only to readers of its source code. The
// text for a TLS alert says that the peer reports it.
inline std::string openssl_text(std::string_view reason) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kWords = {{
      {"no start line", "no PEM block"},
      {"bad base64 decode", "a PEM block that is not base64"},
      {"bad end line", "a PEM block without its end line"},
      {"key values mismatch", "the private key does not belong to the certificate"},
      {"bad decrypt", "the private key is encrypted"},
      {"bad password read", "the private key is encrypted"},
      {"unsupported", "an encoding that is not supported"},
      {"wrong version number", "the peer does not use TLS"},
      {"unexpected eof while reading", "the peer closed the connection"},
  }};
  for (const auto& [theirs, ours] : kWords) {
    if (reason == theirs) return std::string(ours);
  }
  constexpr std::string_view kAlert = " alert ";
  const auto alert = reason.find(kAlert);
  if (alert == std::string_view::npos) return std::string(reason);
  return "the peer reports: " + std::string(reason.substr(alert + kAlert.size()));
}

// Returns the text of this thread's newest OpenSSL error, or `none` if there is no error. Clears the error queue. For errors of the
// operating system, OpenSSL 3 has no reason text; the text may then be that of "unsupported".
//
//   if (SSL_connect(ssl) != 1) return service_unavailable("TLS handshake: " + openssl_reason("connection closed"));
inline std::string openssl_reason(std::string_view none) {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  if (code == 0) return std::string(none);
  const char* reason = ERR_reason_error_string(code);
  return reason == nullptr ? "TLS failure " + std::to_string(ERR_GET_REASON(code)) : openssl_text(reason);
}

}  // namespace backplane
