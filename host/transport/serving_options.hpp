// The options of the secure port.
//
// Thread-safety: a value.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "http/limits.hpp"

namespace backplane {

struct KeyPairFiles {
  std::string certificate;  // PEM, leaf first
  std::string key;          // PEM
};

// A certificate for some server names.
struct SniCertificate {
  KeyPairFiles files;
  // Domain names ("*.example.com" included) and IP addresses; empty: taken from the certificate, after all explicit ones.
  std::vector<std::string> names = {};
  // A pair in memory, instead of files.
  std::string certificate_pem = {};
  std::string key_pem = {};

  bool in_memory() const noexcept { return !certificate_pem.empty(); }
};

struct ServingOptions {
  // An unspecified address ("", "0.0.0.0", "::") listens on every family.
  std::string bind_address = "127.0.0.1";
  std::uint16_t port = 6443;  // 0: the kernel picks one
  // A listening socket to use instead of address and port; SecureServer owns it. -1: none.
  int inherited_socket = -1;
  bool reuse_port = false;
  bool reuse_address = true;
  int backlog = 1024;

  KeyPairFiles certificate;
  std::vector<SniCertificate> sni_certificates;
  // PEM bundle that client certificates must chain to; empty: none are requested.
  std::string client_ca_file;
  // Further trusted bundles.
  std::vector<std::string> more_client_ca_files;
  // PEM bundle that the certificates of front proxies must chain to; empty: there are no front proxies.
  std::string proxy_ca_file;
  // Names as Go and IANA spell them; empty: the defaults.  TLS 1.3 suites are always on.
  std::vector<std::string> cipher_suites;
  std::string min_tls_version = "VersionTLS12";  // VersionTLS10 to VersionTLS13
  // Key exchange groups by their IANA numbers, the preferred first; empty: the library's defaults.
  std::vector<int> curve_preferences;
  bool disable_http2 = false;

  // How often certificate files are checked for changes.
  std::chrono::milliseconds reload_interval{1'000};
  std::chrono::milliseconds handshake_timeout{10'000};
  std::chrono::seconds tcp_keepalive{180};
  // Connections past this are closed as soon as they are accepted.
  std::size_t max_connections = 16'384;
  HttpLimits limits;
};

// The problems of the options, one text each; files are not opened here.
std::vector<std::string> validate(const ServingOptions& options);

// "VersionTLS12" → TLS1_2_VERSION; 0 for unknown names.
int tls_version_number(const std::string& name);
// OpenSSL's name of a key exchange group by its IANA number (RFC 8422: 23, 24, 25, 29); empty for others.
std::string openssl_group_name(int number);
// OpenSSL's name of a suite given by its IANA name; empty for unknown ones.
std::string openssl_cipher_name(const std::string& iana_name);
// RC4, 3DES, CBC with SHA-256, and RSA key exchange: offered if configured, with a warning.
bool is_insecure_cipher(std::string_view iana_name) noexcept;

}  // namespace backplane
