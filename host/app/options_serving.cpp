#include <algorithm>
#include <array>

#include "app/options.hpp"
#include "transport/serving_options.hpp"

namespace backplane {
namespace {

constexpr std::array<std::string_view, 2> kTlsVersions{"VersionTLS12", "VersionTLS13"};

}  // namespace

void SecureServingOptions::add_flags(FlagSet& flags) {
  flags.section("Secure serving");
  flags.add("bind-address", FlagType::kIp, &bind_address, "The address to listen on; 0.0.0.0 or :: for all of them.");
  flags.add("secure-port", &secure_port, "The port to serve HTTPS on. 0: the system picks a free one, and it is printed.");
  flags.add("cert-dir", &cert_dir, "Where certificates are made that were not given. Unset: pki in --data-dir.");
  flags.add("disable-http2-serving", &disable_http2, "Offer HTTP/1.1 only.");
  flags.add("http2-max-streams-per-connection", &http2_max_streams_per_connection, "Requests at once on one HTTP/2 connection. 0: 100.");
  flags.always("permit-address-sharing", FlagType::kBool, "false",
               "Listen with SO_REUSEADDR, which is done in any case: a server can be started again at once.");
  flags.add("permit-port-sharing", &permit_port_sharing, "Listen with SO_REUSEPORT, so that several processes share a port.");
  flags.add("tls-cert-file", &tls_cert_file, "Serving certificate with its chain, PEM. Read again when it changes. Unset: one is made.");
  flags.add("tls-private-key-file", &tls_private_key_file, "Private key of --tls-cert-file, PEM.");
  flags.add("tls-cipher-suites", &tls_cipher_suites,
            "Cipher suites for TLS 1.2, by their IANA names. Empty: the library's secure defaults.");
  flags.add("tls-min-version", &tls_min_version, "Lowest TLS version: VersionTLS12 (default) or VersionTLS13; older ones are not offered.");
  flags.add(
      "tls-sni-cert-key", FlagType::kStringArray, &tls_sni_cert_key,
      "CERT,KEY[:NAME,NAME]: another certificate for clients that ask for one of these names, or for the names in it. May be repeated.");
  flags.add("tls-curve-preferences", FlagType::kInts, &tls_curve_preferences,
            "Key exchange groups by their IANA numbers, the preferred first: 23 P-256, 24 P-384, 25 P-521, 29 X25519.");
}

std::vector<int> SecureServingOptions::curves() const {
  std::vector<int> numbers;
  for (const auto& text : tls_curve_preferences) numbers.push_back(std::atoi(text.c_str()));  // the flag's type has seen to the digits
  return numbers;
}

void SecureServingOptions::validate(Problems& problems) const {
  if (secure_port < 0 || secure_port > 65535) {
    problems.push_back("--secure-port " + std::to_string(secure_port) +
                       " must be between 0 and 65535, inclusive. 0 lets the system pick a port");
  }
  if (http2_max_streams_per_connection < 0) problems.push_back("--http2-max-streams-per-connection can not be negative value");
  if (tls_cert_file.empty() != tls_private_key_file.empty()) {
    problems.push_back("--tls-cert-file and --tls-private-key-file must be given together");
  }
  if (!tls_min_version.empty() && std::find(kTlsVersions.begin(), kTlsVersions.end(), tls_min_version) == kTlsVersions.end()) {
    problems.push_back("unknown tls version " + quoted(tls_min_version) + ", want VersionTLS12 or VersionTLS13");
  }
  ServingOptions asked;
  asked.cipher_suites = tls_cipher_suites;
  asked.curve_preferences = curves();
  for (auto& problem : backplane::validate(asked)) problems.push_back(std::move(problem));
  for (const auto& pair : tls_sni_cert_key) {
    if (pair.find(',') == std::string::npos) {
      problems.push_back("--tls-sni-cert-key: expected comma separated certificate and key file paths, got " + quoted(pair));
    }
  }
}

}  // namespace backplane
