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

// A certificate for certain server names.
struct SniCertificate {
  KeyPairFiles files;
  // Domain names (also "*.example.com") and IP addresses. If the list is empty, the names are read from the certificate; explicit names of
  // other certificates have precedence over these.
  std::vector<std::string> names = {};
  // A pair in memory that is used instead of the files.
  std::string certificate_pem = {};
  std::string key_pem = {};

  bool in_memory() const noexcept { return !certificate_pem.empty(); }
};

struct ServingOptions {
  // An unspecified address ("", "0.0.0.0", "::") makes the server listen on IPv4 and IPv6.
  std::string bind_address = "127.0.0.1";
  std::uint16_t port = 6443;  // 0: the kernel chooses a free port
  // A listening socket that is used instead of bind_address and port; SecureServer owns it. -1: no such socket.
  int inherited_socket = -1;
  bool reuse_port = false;
  bool reuse_address = true;
  int backlog = 1024;

  KeyPairFiles certificate;
  std::vector<SniCertificate> sni_certificates;
  // PEM bundle of the authorities of client certificates. If neither this file nor more_client_ca_files is set, the server requests no
  // client certificates.
  std::string client_ca_file;
  // More PEM bundles of authorities of client certificates.
  std::vector<std::string> more_client_ca_files;
  // PEM bundle of the authorities of front proxies' certificates; empty: there are no front proxies.
  std::string proxy_ca_file;
  // Names of IANA, or Go's names for them; empty: the default suites. TLS 1.3 suites are always enabled.
  std::vector<std::string> cipher_suites;
  std::string min_tls_version = "VersionTLS12";  // VersionTLS10 to VersionTLS13
  // Key exchange groups by their IANA numbers, the preferred group first; empty: OpenSSL's default groups.
  std::vector<int> curve_preferences;
  bool disable_http2 = false;

  // The interval between two checks of the certificate files for changes.
  std::chrono::milliseconds reload_interval{1'000};
  std::chrono::milliseconds handshake_timeout{10'000};
  std::chrono::seconds tcp_keepalive{180};
  // Further connections are closed as soon as they are accepted.
  std::size_t max_connections = 16'384;
  HttpLimits limits;
};

// Returns one text for each problem of the options. The function does not open files.
std::vector<std::string> validate(const ServingOptions& options);

// "VersionTLS12" or an empty name → TLS1_2_VERSION. Unknown names → 0.
int tls_version_number(const std::string& name);
// Returns OpenSSL's name of a key exchange group. `number` is the group's IANA number (RFC 8422): 23, 24, 25 or 29. The result is empty for
// other numbers.
std::string openssl_group_name(int number);
// Returns OpenSSL's name of a cipher suite; the result is empty if the IANA name is unknown.
std::string openssl_cipher_name(const std::string& iana_name);
// Returns true for suites with RC4, 3DES, CBC with SHA-256, or RSA key exchange. If such a suite is configured, the host logs a warning.
bool is_insecure_cipher(std::string_view iana_name) noexcept;

}  // namespace backplane
