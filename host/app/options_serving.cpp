#include <algorithm>
#include <array>

#include "app/options.hpp"
#include "transport/serving_options.hpp"

namespace backplane {
namespace {

constexpr std::array<std::string_view, 4> kTlsVersions{"VersionTLS10", "VersionTLS11", "VersionTLS12", "VersionTLS13"};

}  // namespace

void SecureServingOptions::add_flags(FlagSet& flags) {
  flags.section("Secure serving");
  flags.add(
      "bind-address", FlagType::kIp, &bind_address,
      "Address to listen on; 0.0.0.0 or :: for all addresses. Unset: 127.0.0.1, or all addresses if --advertise-address is set to one "
      "that is not loopback.");
  flags.add("secure-port", &secure_port, "Port of HTTPS, 0 to 65535. 0: the system chooses a free port, which startup prints.");
  flags.add("cert-dir", &cert_dir, "Directory of generated certificates. Unset: pki in --data-dir.");
  flags.add("disable-http2-serving", &disable_http2, "Serve only HTTP/1.1.");
  flags.add("http2-max-streams-per-connection", &http2_max_streams_per_connection,
            "Maximum number of concurrent requests of one HTTP/2 connection. 0: 100.");
  flags.always("permit-address-sharing", FlagType::kBool, "false",
               "Listen with SO_REUSEADDR; it is always set, so that a server can be restarted at once.");
  flags.add("permit-port-sharing", &permit_port_sharing, "Listen with SO_REUSEPORT, so that several processes can share a port.");
  flags.add("tls-cert-file", &tls_cert_file,
            "Serving certificate and its chain, PEM; reloaded when the file changes. Unset: a generated certificate.");
  flags.add("tls-private-key-file", &tls_private_key_file, "Private key of --tls-cert-file, PEM; reloaded when the file changes.");
  flags.add("tls-cipher-suites", &tls_cipher_suites, "Cipher suites of TLS 1.2, by IANA name. Empty: the defaults of the TLS library.");
  flags.add("tls-min-version", &tls_min_version,
            "Minimum TLS version: VersionTLS10, VersionTLS11, VersionTLS12 (default) or VersionTLS13.");
  flags.add("tls-sni-cert-key", FlagType::kStringArray, &tls_sni_cert_key,
            "CERT,KEY[:NAME,NAME]: certificate and key files for clients that request one of these names, or a name in the certificate. "
            "May be repeated.");
  flags.add("tls-curve-preferences", FlagType::kInts, &tls_curve_preferences,
            "Key exchange groups by IANA number, in order of preference: 23 P-256, 24 P-384, 25 P-521, 29 X25519.");
}

std::vector<int> SecureServingOptions::curves() const {
  std::vector<int> numbers;
  for (const auto& text : tls_curve_preferences) numbers.push_back(std::atoi(text.c_str()));  // the flag's type has checked the digits
  return numbers;
}

void SecureServingOptions::validate(Problems& problems) const {
  if (secure_port < 0 || secure_port > 65535) {
    problems.push_back("--secure-port: " + std::to_string(secure_port) + " is not a port; must be 1 to 65535, or 0 for a free port");
  }
  if (http2_max_streams_per_connection < 0) problems.push_back("--http2-max-streams-per-connection: must not be negative");
  if (tls_cert_file.empty() != tls_private_key_file.empty()) {
    problems.push_back("--tls-cert-file and --tls-private-key-file: set both or neither");
  }
  if (!tls_min_version.empty() && std::find(kTlsVersions.begin(), kTlsVersions.end(), tls_min_version) == kTlsVersions.end()) {
    problems.push_back("--tls-min-version: invalid value " + backplane::quoted(tls_min_version) +
                       "; must be VersionTLS10, VersionTLS11, VersionTLS12 or VersionTLS13");
  }
  ServingOptions asked;
  asked.cipher_suites = tls_cipher_suites;
  asked.curve_preferences = curves();
  for (auto& problem : backplane::validate(asked)) problems.push_back(std::move(problem));
  for (const auto& pair : tls_sni_cert_key) {
    if (pair.find(',') == std::string::npos) {
      problems.push_back("--tls-sni-cert-key: " + backplane::quoted(pair) + " must have the form CERT,KEY[:NAME,NAME]");
    }
  }
}

}  // namespace backplane
