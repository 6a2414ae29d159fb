// Generates the certificates of a server that has no configured ones: a CA, serving certificates and client certificates. Each is generated
// once and stored in files.
//
// Thread-safety: any thread. Two processes must not use the same files. The functions that read or write files block: call them on the
//                blocking pool.
// Errors:        kInternalError with the file and the reason.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "backplane/core/status.hpp"
#include "backplane/points/http.hpp"
#include "transport/openssl_ptr.hpp"
#include "transport/serving_options.hpp"

namespace backplane {

struct KeyPair {
  std::string certificate_pem;
  std::string key_pem;
};

enum class CertificateUse { kAuthority, kServer, kClient };

struct CertificateSpec {
  CertificateUse use = CertificateUse::kServer;
  std::string common_name = {};
  std::vector<std::string> organizations = {};
  std::vector<std::string> dns_names = {};
  std::vector<std::string> ip_addresses = {};
  std::chrono::hours lifetime = std::chrono::hours(24 * 365);
};

// Generates an EC P-256 key and a certificate for it. `authority` signs the certificate; if it is null, the certificate is self-signed.
Result<KeyPair> issue_certificate(const CertificateSpec& spec, const KeyPair* authority);

// Returns the pair in `files` if it can still serve `spec`. Otherwise generates a new pair, writes it to `files` and returns it. A pair can
// serve `spec` if
// - both files can be read, and the key belongs to the certificate,
// - `authority` has signed the certificate, unless `authority` is null,
// - the certificate is valid for at least another 30 days, or another fifth of CertificateSpec::lifetime if that is shorter,
// - it has the subject and all names of `spec`.
Result<KeyPair> ensure_certificate(const KeyPairFiles& files, const CertificateSpec& spec, const KeyPair* authority);
// Generates an EC P-256 key and writes it to `path`, unless the file already has a private key.
Status ensure_key(const std::string& path);
// Returns true if `authority` has signed the certificate. Returns false if another authority has signed it, or if a certificate is
// unreadable.
bool is_issued_by(const std::string& certificate_pem, const KeyPair& authority);
// Returns the reason why `pair` cannot serve `spec`; the result is empty if it can (see ensure_certificate()).
std::string certificate_problem(const KeyPair& pair, const CertificateSpec& spec, const KeyPair* authority);

// Writes and syncs a temporary file, then renames it to `path`, so that readers get the old or the new text. Missing parent folders are
// created; the folder of `path` then has mode 0700.
Status write_file_atomically(const std::string& path, std::string_view text, unsigned mode);
Result<std::string> read_file(const std::string& path);

// Returns the DNS names and IP addresses of a certificate, or its common name if it has none of these.
std::vector<std::string> certificate_names(const X509* certificate);
PeerCertificate describe_certificate(const X509* certificate);
std::chrono::system_clock::time_point certificate_expiry(const X509* certificate);

}  // namespace backplane
