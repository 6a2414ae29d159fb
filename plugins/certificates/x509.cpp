#include "x509.hpp"

#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/objects.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <array>

namespace backplane::certificates {
namespace {

const unsigned char* bytes_of(std::string_view text) noexcept { return reinterpret_cast<const unsigned char*>(text.data()); }

// Clears OpenSSL's error queue of the current thread.
struct NoErrorsLeft {
  ~NoErrorsLeft() { ERR_clear_error(); }
};

// The tag and the length before an element's content, as Go's encoding/asn1 reads them.
struct ElementHead {
  unsigned char identifier = 0;
  std::size_t length = 0, size = 2;  // length of the content; size of the head itself
  std::string problem = {};
};

void read_long_length(std::string_view der, ElementHead& out) {
  const unsigned char* at = bytes_of(der);
  const std::size_t count = out.length & 0x7F;
  out.length = 0;
  if (count == 0) out.problem = "asn1: syntax error: indefinite length found (not DER)";
  for (std::size_t i = 0; i < count && out.problem.empty(); ++i, ++out.size) {
    if (out.size >= der.size()) {
      out.problem = "asn1: syntax error: truncated tag or length";
    } else if (out.length >= std::size_t{1} << 23) {
      out.problem = "asn1: structure error: length too large";
    } else if ((out.length = out.length << 8 | at[out.size]) == 0) {
      out.problem = "asn1: structure error: superfluous leading zeros in length";
    }
  }
  if (out.problem.empty() && out.length < 0x80) out.problem = "asn1: structure error: non-minimal length";
}

ElementHead read_head(std::string_view der) {
  ElementHead out;
  if (der.empty()) {
    out.problem = "asn1: syntax error: sequence truncated";
  } else if (der.size() < 2) {
    out.problem = "asn1: syntax error: truncated tag or length";
  } else {
    out.identifier = bytes_of(der)[0];
    out.length = bytes_of(der)[1];
    if (out.length >= 0x80) read_long_length(der, out);
  }
  return out;
}

// The message of Go contains the parts of the tag, and the options of the field, of which the type of a request has none.
std::string wrong_tag(const ElementHead& head) {
  const unsigned id = head.identifier;
  return "asn1: structure error: tags don't match (16 vs {class:" + std::to_string(id >> 6) + " tag:" + std::to_string(id & 0x1F) +
         " length:" + std::to_string(head.length) + " isCompound:" + ((id & 0x20) != 0 ? "true" : "false") +
         "}) {optional:false explicit:false application:false private:false defaultValue:<nil> tag:<nil> stringType:0 timeType:0 "
         "set:false omitEmpty:false} certificateRequest @" +
         std::to_string(head.size);
}

// Returns the error of the outermost element, which must be a sequence without trailing data; empty: there is none.
std::string outer_problem(std::string_view der) {
  constexpr unsigned char kSequence = 0x30;
  ElementHead head = read_head(der);
  if (!head.problem.empty()) return std::move(head.problem);
  if (head.identifier != kSequence) return wrong_tag(head);
  const std::size_t left = der.size() - head.size;
  if (left < head.length) return "asn1: syntax error: data truncated";
  return left > head.length ? "asn1: syntax error: trailing data" : "";
}

template <class Made, class Read>
Result<Made> read_der(std::string_view der, Read read, const char* malformed) {
  const NoErrorsLeft clean;
  const unsigned char* at = bytes_of(der);
  Made made(read(nullptr, &at, static_cast<long>(der.size())));
  if (made == nullptr || at != bytes_of(der) + der.size()) return bad_request(malformed);
  return made;
}

Status signature_problem(int key_type) {
  switch (key_type) {
    case EVP_PKEY_RSA:
      return bad_request("crypto/rsa: verification error");
    case EVP_PKEY_EC:
      return bad_request("x509: ECDSA verification failure");
    case EVP_PKEY_ED25519:
      return bad_request("x509: Ed25519 verification failure");
    default:
      return bad_request("x509: cannot verify signature: algorithm unimplemented");
  }
}

std::int64_t unix_seconds(const ASN1_TIME* time) {
  const std::unique_ptr<ASN1_TIME, decltype(&ASN1_TIME_free)> epoch(ASN1_TIME_set(nullptr, 0), &ASN1_TIME_free);
  int days = 0, seconds = 0;
  if (ASN1_TIME_diff(&days, &seconds, epoch.get(), time) != 1) return 0;
  return std::int64_t{days} * 86'400 + seconds;
}

std::vector<std::string> alternative_names(const Certificate& certificate, int type) {
  std::vector<std::string> out;
  auto* names = static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate.get(), NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; i < sk_GENERAL_NAME_num(names); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names, i);
    if (name->type != type) continue;
    const ASN1_IA5STRING* text = name->d.ia5;
    out.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)), static_cast<std::size_t>(ASN1_STRING_length(text)));
  }
  GENERAL_NAMES_free(names);
  return out;
}

}  // namespace

void FreeX509::operator()(X509_req_st* request) const noexcept { X509_REQ_free(request); }
void FreeX509::operator()(x509_st* certificate) const noexcept { X509_free(certificate); }
void FreeX509::operator()(evp_pkey_st* key) const noexcept { EVP_PKEY_free(key); }

Result<Request> read_request(std::string_view der) {
  if (std::string problem = outer_problem(der); !problem.empty()) return bad_request(std::move(problem));
  auto request = read_der<Request>(der, d2i_X509_REQ, "asn1: structure error: malformed certificate request");
  if (!request.ok()) return request;
  auto subject = kit::read_certificate_subject(X509_REQ_get_subject_name(request->get()));
  if (!subject.ok()) return std::move(subject.status());
  const NoErrorsLeft clean;
  auto names = read_alternative_names(request->get());
  if (!names.ok()) return std::move(names.status());
  return request;
}

Status check_signature(const Request& request) {
  const NoErrorsLeft clean;
  EVP_PKEY* key = X509_REQ_get0_pubkey(request.get());
  if (key == nullptr) return signature_problem(EVP_PKEY_NONE);
  if (X509_REQ_get_signature_nid(request.get()) == NID_md5WithRSAEncryption) {
    return bad_request("x509: cannot verify signature: insecure algorithm MD5-RSA");
  }
  return X509_REQ_verify(request.get(), key) == 1 ? Status() : signature_problem(EVP_PKEY_get_base_id(key));
}

PublicKey key_of(const Request& request) { return PublicKey(X509_REQ_get_pubkey(request.get())); }

RequestedIdentity identity_of(const Result<Request>& request) {
  RequestedIdentity out;
  if (!request.ok()) return out;
  const NoErrorsLeft clean;
  auto subject = kit::read_certificate_subject(X509_REQ_get_subject_name(request->get()));
  if (subject.ok()) out.subject = std::move(*subject);
  auto names = read_alternative_names(request->get());
  if (names.ok()) out.names = *names;
  return out;
}

Result<Certificate> read_certificate(std::string_view der) { return read_der<Certificate>(der, d2i_X509, "x509: malformed certificate"); }

Result<Certificate> read_first_certificate(std::string_view der) {
  const NoErrorsLeft clean;
  const unsigned char* at = bytes_of(der);
  Certificate made(d2i_X509(nullptr, &at, static_cast<long>(der.size())));
  if (made == nullptr) return bad_request("x509: malformed certificate");
  return made;
}

Status check_certificates(std::string_view der) {
  const NoErrorsLeft clean;
  if (der.empty()) return bad_request("found CERTIFICATE PEM block containing 0 certificates");
  const unsigned char* at = bytes_of(der);
  const unsigned char* const end = at + der.size();
  while (at != end) {
    const Certificate next(d2i_X509(nullptr, &at, end - at));
    if (next == nullptr) return bad_request("x509: malformed certificate");
  }
  return {};
}

PublicKey key_of(const Certificate& certificate) { return PublicKey(X509_get_pubkey(certificate.get())); }

bool is_authority(const Certificate& certificate) {
  const NoErrorsLeft clean;
  auto* constraints = static_cast<BASIC_CONSTRAINTS*>(X509_get_ext_d2i(certificate.get(), NID_basic_constraints, nullptr, nullptr));
  const bool authority = constraints != nullptr && constraints->ca != 0;
  BASIC_CONSTRAINTS_free(constraints);
  return authority;
}

std::int64_t not_before(const Certificate& certificate) { return unix_seconds(X509_get0_notBefore(certificate.get())); }
std::int64_t not_after(const Certificate& certificate) { return unix_seconds(X509_get0_notAfter(certificate.get())); }
std::vector<std::string> dns_names(const Certificate& certificate) { return alternative_names(certificate, GEN_DNS); }
std::vector<std::string> email_addresses(const Certificate& certificate) { return alternative_names(certificate, GEN_EMAIL); }

PublicKey read_public_key(std::string_view der) {
  const NoErrorsLeft clean;
  const unsigned char* at = bytes_of(der);
  PublicKey key(d2i_PUBKEY(nullptr, &at, static_cast<long>(der.size())));
  return key != nullptr && at == bytes_of(der) + der.size() ? std::move(key) : nullptr;
}

bool same_key(const PublicKey& a, const PublicKey& b) {
  const NoErrorsLeft clean;
  return a != nullptr && b != nullptr && EVP_PKEY_eq(a.get(), b.get()) == 1;
}

KeyKind kind_of(const PublicKey& key) {
  switch (key == nullptr ? EVP_PKEY_NONE : EVP_PKEY_get_base_id(key.get())) {
    case EVP_PKEY_ED25519:
      return KeyKind::kEd25519;
    case EVP_PKEY_EC:
      return KeyKind::kEllipticCurve;
    case EVP_PKEY_RSA:
      return KeyKind::kRsa;
    default:
      return KeyKind::kOther;
  }
}

std::string curve_of(const PublicKey& key) {
  std::array<char, 64> name{};
  std::size_t size = 0;
  if (EVP_PKEY_get_group_name(key.get(), name.data(), name.size(), &size) != 1) return {};
  const char* known = EC_curve_nid2nist(OBJ_txt2nid(name.data()));
  return known != nullptr ? std::string(known) : std::string(name.data(), size);
}

int bits_of(const PublicKey& key) { return EVP_PKEY_get_size(key.get()) * 8; }

bool verifies(const PublicKey& key, std::string_view message, std::string_view signature) {
  const NoErrorsLeft clean;
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> digest(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  const KeyKind kind = kind_of(key);
  EVP_PKEY_CTX* how = nullptr;
  const EVP_MD* hash = kind == KeyKind::kEd25519 ? nullptr : EVP_sha256();
  if (EVP_DigestVerifyInit(digest.get(), &how, hash, nullptr, key.get()) != 1) return false;
  if (kind == KeyKind::kRsa &&
      (EVP_PKEY_CTX_set_rsa_padding(how, RSA_PKCS1_PSS_PADDING) != 1 || EVP_PKEY_CTX_set_rsa_pss_saltlen(how, RSA_PSS_SALTLEN_AUTO) != 1)) {
    return false;
  }
  return EVP_DigestVerify(digest.get(), bytes_of(signature), signature.size(), bytes_of(message), message.size()) == 1;
}

}  // namespace backplane::certificates
