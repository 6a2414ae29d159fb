// Tests only: generated keys, requests and certificates.
#pragma once

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>

#include "x509.hpp"

namespace backplane::certificates::testing {

inline PublicKey ed25519_key() { return PublicKey(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519")); }
inline PublicKey ec_key(const char* curve = "P-256") { return PublicKey(EVP_EC_gen(curve)); }
inline PublicKey rsa_key(unsigned bits) { return PublicKey(EVP_RSA_gen(bits)); }

template <class Made>
std::string der_of(Made* made, int (*write)(const Made*, unsigned char**)) {
  unsigned char* bytes = nullptr;
  const int size = write(made, &bytes);
  std::string out(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  OPENSSL_free(bytes);
  return out;
}

inline const EVP_MD* hash_for(const PublicKey& key) { return kind_of(key) == KeyKind::kEd25519 ? nullptr : EVP_sha256(); }

// Returns a PKCS#10 request for `key`, signed with `signer` or, if that is null, with `key`.
// `names`: subject alternative names.
inline std::string request_der(const PublicKey& key, const PublicKey* signer = nullptr, GENERAL_NAMES* names = nullptr) {
  const Request request(X509_REQ_new());
  X509_REQ_set_pubkey(request.get(), key.get());
  if (names != nullptr) {
    STACK_OF(X509_EXTENSION)* extensions = sk_X509_EXTENSION_new_null();
    sk_X509_EXTENSION_push(extensions, X509V3_EXT_i2d(NID_subject_alt_name, 0, names));
    X509_REQ_add_extensions(request.get(), extensions);
    sk_X509_EXTENSION_pop_free(extensions, X509_EXTENSION_free);
  }
  X509_REQ_sign(request.get(), (signer != nullptr ? *signer : key).get(), hash_for(signer != nullptr ? *signer : key));
  return der_of<X509_REQ>(request.get(), i2d_X509_REQ);
}

struct CertificateParts {
  bool authority = false;
  std::int64_t not_before = 0, not_after = 0;
  const char* alternative_names = nullptr;  // "DNS:a.example.com"
};

inline std::string certificate_der(const PublicKey& key, const CertificateParts& parts) {
  const Certificate made(X509_new());
  X509_set_version(made.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(made.get()), 1);
  ASN1_TIME_set(X509_getm_notBefore(made.get()), static_cast<time_t>(parts.not_before));
  ASN1_TIME_set(X509_getm_notAfter(made.get()), static_cast<time_t>(parts.not_after));
  X509_set_pubkey(made.get(), key.get());
  const auto extend = [&](int which, const char* text) {
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, which, text);
    X509_add_ext(made.get(), extension, -1);
    X509_EXTENSION_free(extension);
  };
  if (parts.authority) extend(NID_basic_constraints, "critical,CA:TRUE");
  if (parts.alternative_names != nullptr) extend(NID_subject_alt_name, parts.alternative_names);
  X509_sign(made.get(), key.get(), hash_for(key));
  return der_of<X509>(made.get(), i2d_X509);
}

inline std::string pem(const char* type, const std::string& der, const char* headers = "") {
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new(BIO_s_mem()), &BIO_free);
  PEM_write_bio(bio.get(), type, headers, reinterpret_cast<const unsigned char*>(der.data()), static_cast<long>(der.size()));
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &text);
  return std::string(text, static_cast<std::size_t>(size));
}

}  // namespace backplane::certificates::testing
