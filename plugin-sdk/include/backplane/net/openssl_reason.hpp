// OpenSSL errors as texts for log lines and messages, for plugins that link OpenSSL::Crypto.
//
// Thread-safety: any thread; OpenSSL's error queue is thread-local. Call openssl_reason() on the thread whose OpenSSL call has
//                failed, before the next OpenSSL call.
// Errors:        none; an unknown reason has OpenSSL's text or its number.
#pragma once

#include <openssl/err.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace backplane {

// The text for an OpenSSL reason: OpenSSL's own, except for reasons that only make sense with its source code. TLS alerts are marked as
// the peer's.
inline std::string openssl_text(std::string_view reason) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kWords = {{
      {"no start line", "no PEM block"},
      {"bad base64 decode", "a PEM block that is not base64"},
      {"bad end line", "a PEM block without its end line"},
      {"key values mismatch", "the private key does not belong to the certificate"},
      {"bad decrypt", "the private key is encrypted"},
      {"bad password read", "the private key is encrypted"},
      {"unsupported", "an encoding that is not supported"},
      {"wrong version number", "the peer does not speak TLS"},
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

//
//   if (SSL_connect(ssl) != 1) return service_unavailable("TLS handshake: " + openssl_reason("connection closed"));
//
// The text of this thread's newest error; clears the error queue. `none` is returned if the queue is empty. OpenSSL 3 has no reason text
// for errors of the operating system ("unsupported" may then be all that is known).
inline std::string openssl_reason(std::string_view none) {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  if (code == 0) return std::string(none);
  const char* reason = ERR_reason_error_string(code);
  return reason == nullptr ? "TLS failure " + std::to_string(ERR_GET_REASON(code)) : openssl_text(reason);
}

}  // namespace backplane
