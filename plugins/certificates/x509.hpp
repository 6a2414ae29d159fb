// Certificates, requests and public keys, parsed by OpenSSL.
//
// Thread-safety: pure functions; the caller owns the results.
// Errors:        kBadRequest, with the text of Go's library if the error can be identified.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "alternative_names.hpp"
#include "backplane/core/status.hpp"
#include "backplane/kit/certificate_subject.hpp"

struct X509_req_st;
struct x509_st;
struct evp_pkey_st;

namespace backplane::certificates {

struct FreeX509 {
  void operator()(X509_req_st* request) const noexcept;
  void operator()(x509_st* certificate) const noexcept;
  void operator()(evp_pkey_st* key) const noexcept;
};
using Request = std::unique_ptr<X509_req_st, FreeX509>;
using Certificate = std::unique_ptr<x509_st, FreeX509>;
using PublicKey = std::unique_ptr<evp_pkey_st, FreeX509>;

// Parses a PKCS#10 request in DER.
Result<Request> read_request(std::string_view der);
// Verifies the signature of the request, which proves that the requester has the private key.
Status check_signature(const Request& request);
PublicKey key_of(const Request& request);
// The requested subject, and the number of alternative names of each kind.
struct RequestedIdentity {
  kit::CertificateSubject subject;
  AlternativeNames names;
};
// Returns an empty identity if `request` is an error.
RequestedIdentity identity_of(const Result<Request>& request);

Result<Certificate> read_certificate(std::string_view der);
// Parses the first certificate, and ignores the bytes after it.
Result<Certificate> read_first_certificate(std::string_view der);
// Returns an error unless `der` consists of one or more certificates that can be parsed.
Status check_certificates(std::string_view der);
PublicKey key_of(const Certificate& certificate);
bool is_authority(const Certificate& certificate);
// The times are seconds since the epoch.
std::int64_t not_before(const Certificate& certificate);
std::int64_t not_after(const Certificate& certificate);
// Subject alternative names.
std::vector<std::string> dns_names(const Certificate& certificate);
std::vector<std::string> email_addresses(const Certificate& certificate);

// Parses a SubjectPublicKeyInfo in DER; returns null if that fails.
PublicKey read_public_key(std::string_view der);
bool same_key(const PublicKey& a, const PublicKey& b);

enum class KeyKind : unsigned char { kOther, kEd25519, kEllipticCurve, kRsa };
KeyKind kind_of(const PublicKey& key);
std::string curve_of(const PublicKey& key);  // "P-256"
int bits_of(const PublicKey& key);           // the size of the modulus, for an RSA key
// Verifies the key's `signature` over `message`: Ed25519; ECDSA over SHA-256; RSA-PSS with SHA-256.
bool verifies(const PublicKey& key, std::string_view message, std::string_view signature);

}  // namespace backplane::certificates
