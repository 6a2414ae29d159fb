#include "transport/serving_options.hpp"

#include <openssl/ssl.h>

#include <map>

namespace backplane {

int tls_version_number(const std::string& name) {
  if (name.empty() || name == "VersionTLS12") return TLS1_2_VERSION;
  if (name == "VersionTLS13") return TLS1_3_VERSION;
  if (name == "VersionTLS11") return TLS1_1_VERSION;
  if (name == "VersionTLS10") return TLS1_VERSION;
  return 0;
}

std::string openssl_group_name(int number) {
  static const std::map<int, std::string> kGroups{{23, "P-256"}, {24, "P-384"}, {25, "P-521"}, {29, "X25519"}};
  const auto found = kGroups.find(number);
  return found == kGroups.end() ? std::string() : found->second;
}

std::string openssl_cipher_name(const std::string& iana_name) {
  // Go's older names of two suites lack "_SHA256".
  const bool short_chacha = iana_name.ends_with("_WITH_CHACHA20_POLY1305");
  const std::string full = short_chacha ? iana_name + "_SHA256" : iana_name;
  const char* name = OPENSSL_cipher_name(full.c_str());
  return name == nullptr || std::string_view(name) == "(NONE)" ? std::string() : std::string(name);
}

bool is_insecure_cipher(std::string_view iana_name) noexcept {
  const auto has = [&](std::string_view part) { return iana_name.find(part) != std::string_view::npos; };
  return iana_name.starts_with("TLS_RSA_") || has("_RC4_") || has("_3DES_") || iana_name.ends_with("_CBC_SHA256");
}

std::vector<std::string> validate(const ServingOptions& options) {
  std::vector<std::string> problems;
  if (options.certificate.certificate.empty() != options.certificate.key.empty()) {
    problems.emplace_back("--tls-cert-file and --tls-private-key-file must be given together");
  }
  if (tls_version_number(options.min_tls_version) == 0) {
    problems.push_back("unknown tls version \"" + options.min_tls_version +
                       "\", want VersionTLS10, VersionTLS11, VersionTLS12 or VersionTLS13");
  }
  for (const auto& suite : options.cipher_suites) {
    if (openssl_cipher_name(suite).empty()) problems.push_back("Cipher suite " + suite + " not supported or doesn't exist");
  }
  for (const int curve : options.curve_preferences) {
    if (openssl_group_name(curve).empty()) {
      problems.push_back("--tls-curve-preferences: curve " + std::to_string(curve) +
                         " is not offered; there are 23 (P-256), 24 (P-384), 25 (P-521), 29 (X25519)");
    }
  }
  for (const auto& pair : options.sni_certificates) {
    if (pair.in_memory()) continue;
    if (pair.files.certificate.empty() || pair.files.key.empty())
      problems.emplace_back("--tls-sni-cert-key needs a certificate and a key file");
  }
  // The limits of RFC 9113, section 6.5.2.
  const auto& limits = options.limits;
  if (limits.h2_max_frame_size < (1u << 14) || limits.h2_max_frame_size >= (1u << 24)) {
    problems.emplace_back("the HTTP/2 frame size must be between 16384 and 16777215");
  }
  if (limits.h2_max_concurrent_streams == 0) problems.emplace_back("the number of HTTP/2 streams per connection must not be 0");
  return problems;
}

}  // namespace backplane
