// Certificates, requests and public keys, as OpenSSL reads them.
//
// Thread-safety: pure functions; what they give belongs to who asked.
// Errors:        kBadRequest in the words of kube-apiserver's library where it has one that can be told apart.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/status.hpp"

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

// PKCS#10, DER.
Result<Request> read_request(std::string_view der);
// That whoever made the request has the key.
Status check_signature(const Request& request);
PublicKey key_of(const Request& request);
// The subject that a request asks for, and how many alternative names of each kind.
struct RequestedIdentity {
  std::vector<std::string> organizations;
  std::string common_name;
  int dns_names = 0, addresses = 0, emails = 0, uris = 0;
};
// Of an error: nothing.
RequestedIdentity identity_of(const Result<Request>& request);

Result<Certificate> read_certificate(std::string_view der);
// One after the other; none at all is an error, too.
Status check_certificates(std::string_view der);
PublicKey key_of(const Certificate& certificate);
bool is_authority(const Certificate& certificate);
// Unix seconds.
std::int64_t not_before(const Certificate& certificate);
std::int64_t not_after(const Certificate& certificate);
// Subject alternative names.
std::vector<std::string> dns_names(const Certificate& certificate);
std::vector<std::string> email_addresses(const Certificate& certificate);

// SubjectPublicKeyInfo, DER; null when it is none.
PublicKey read_public_key(std::string_view der);
bool same_key(const PublicKey& a, const PublicKey& b);

enum class KeyKind : unsigned char { kOther, kEd25519, kEllipticCurve, kRsa };
KeyKind kind_of(const PublicKey& key);
std::string curve_of(const PublicKey& key);  // "P-256"
int bits_of(const PublicKey& key);           // of the modulus
// That `signature` is the key's over `message`: Ed25519; ECDSA over SHA-256; RSA-PSS with SHA-256.
bool verifies(const PublicKey& key, std::string_view message, std::string_view signature);

}  // namespace backplane::certificates
