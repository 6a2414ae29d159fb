// Generates certificates for a server without configured ones: a CA, serving and client certificates, made once and kept in files.
//
// Thread-safety: any thread; two processes must not share the files.  These calls read and write files: use the blocking pool.
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

// A new EC P-256 key and a certificate for it, signed by `authority`; self-signed if that is null.
Result<KeyPair> issue_certificate(const CertificateSpec& spec, const KeyPair* authority);

// The pair in `files` if it can still serve `spec`: readable, key and certificate belong together, signed by `authority` (when not
// null), more than a month (for short validity periods, a fifth) left, the same subject and every name of `spec` present.  Otherwise a
// new pair, which replaces the files.
Result<KeyPair> ensure_certificate(const KeyPairFiles& files, const CertificateSpec& spec, const KeyPair* authority);
// Makes an EC P-256 key in `path` unless there is a private key in it.
Status ensure_key(const std::string& path);
// True if `authority` has signed the certificate; false if another has, or if it cannot be read.
bool is_issued_by(const std::string& certificate_pem, const KeyPair& authority);
// The reason why `pair` cannot serve `spec`; empty: it can.
std::string certificate_problem(const KeyPair& pair, const CertificateSpec& spec, const KeyPair* authority);

// Writes a temporary file, syncs and renames it to `path`: readers see the old or the new text.  Folders are made, mode 0700.
Status write_file_atomically(const std::string& path, std::string_view text, unsigned mode);
Result<std::string> read_file(const std::string& path);

// DNS names and IP addresses of a certificate; its common name if it has none.
std::vector<std::string> certificate_names(const X509* certificate);
PeerCertificate describe_certificate(const X509* certificate);
std::chrono::system_clock::time_point certificate_expiry(const X509* certificate);

}  // namespace backplane
