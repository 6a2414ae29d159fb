#include "client/remote_error_text.hpp"

#include <arpa/inet.h>

#include <cctype>
#include <chrono>
#include <cstring>

#include "backplane/core/meta.hpp"

namespace backplane {
namespace {

struct NamesFree {
  void operator()(GENERAL_NAMES* names) const { GENERAL_NAMES_free(names); }
};

std::string name_text(const GENERAL_NAME& name) {
  if (name.type == GEN_DNS) {
    return std::string(reinterpret_cast<const char*>(ASN1_STRING_get0_data(name.d.dNSName)),
                       static_cast<std::size_t>(ASN1_STRING_length(name.d.dNSName)));
  }
  if (name.type != GEN_IPADD) return {};
  char text[INET6_ADDRSTRLEN] = {};
  const int family = ASN1_STRING_length(name.d.iPAddress) == 4 ? AF_INET : AF_INET6;
  inet_ntop(family, ASN1_STRING_get0_data(name.d.iPAddress), text, sizeof text);
  return text;
}

// Returns the subject alternative names of one kind: "a, b".
std::string names_of(X509* certificate, int kind) {
  const std::unique_ptr<GENERAL_NAMES, NamesFree> names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  std::string out;
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type == kind) out.append(out.empty() ? "" : ", ").append(name_text(*name));
  }
  return out;
}

std::string mismatch(X509* certificate, const std::string& wanted, bool is_address) {
  const std::string names = certificate == nullptr ? "" : names_of(certificate, is_address ? GEN_IPADD : GEN_DNS);
  if (!names.empty()) return "certificate is valid for " + names + ", not " + wanted;
  if (is_address) return "cannot validate certificate for " + wanted + " because it doesn't contain any IP SANs";
  char common_name[256] = {};
  if (certificate != nullptr)
    X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, common_name, sizeof common_name);
  if (wanted == common_name && names_of(certificate, GEN_IPADD).empty()) {
    return "certificate relies on legacy Common Name field, use SANs instead";
  }
  return "certificate is not valid for any names, but wanted to match " + wanted;
}

std::string time_text(const ASN1_TIME* time) {
  std::tm parts{};
  if (time == nullptr || ASN1_TIME_to_tm(time, &parts) != 1) return "unknown";
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

// Returns the index of the SSL ex data that holds the refused server certificate. OpenSSL itself does not keep a refused certificate.
int refused_index() {
  static const int index = SSL_get_ex_new_index(
      0, nullptr, nullptr, nullptr, [](void*, void* kept, CRYPTO_EX_DATA*, int, long, void*) { X509_free(static_cast<X509*>(kept)); });
  return index;
}

int note_refused(int good, X509_STORE_CTX* context) {
  auto* ssl = static_cast<SSL*>(X509_STORE_CTX_get_ex_data(context, SSL_get_ex_data_X509_STORE_CTX_idx()));
  X509* leaf = X509_STORE_CTX_get0_cert(context);
  if (good == 0 && ssl != nullptr && leaf != nullptr && SSL_get_ex_data(ssl, refused_index()) == nullptr) {
    X509_up_ref(leaf);
    SSL_set_ex_data(ssl, refused_index(), leaf);
  }
  return good;
}

bool is_signed_with_sha1(const X509* certificate) {
  int digest = NID_undef;
  const int known = X509_get_signature_info(const_cast<X509*>(certificate), &digest, nullptr, nullptr, nullptr);
  return known == 1 && digest == NID_sha1;
}

// Returns the subject of a certificate as Go prints it.
std::string subject_text(X509* certificate) {
  char text[256] = {};
  X509_NAME* subject = X509_get_subject_name(certificate);
  if (X509_NAME_get_text_by_NID(subject, NID_commonName, text, sizeof text) > 0) return text;
  if (X509_NAME_get_text_by_NID(subject, NID_organizationName, text, sizeof text) > 0) return text;
  const std::unique_ptr<BIGNUM, decltype(&BN_free)> serial(ASN1_INTEGER_to_BN(X509_get0_serialNumber(certificate), nullptr), BN_free);
  const std::unique_ptr<char, void (*)(char*)> digits(serial ? BN_bn2dec(serial.get()) : nullptr, [](char* each) { OPENSSL_free(each); });
  return "serial:" + std::string(digits ? digits.get() : "");
}

// OpenSSL refuses a SHA-1 signature as too weak. Go reports an unknown authority instead, and its error text mentions the signature.
std::string weak_signature_text(X509* leaf) {
  const std::string unknown = "certificate signed by unknown authority";
  if (leaf == nullptr || !is_signed_with_sha1(leaf)) return unknown;
  const bool elliptic = X509_get_signature_nid(leaf) == NID_ecdsa_with_SHA1;
  // OpenSSL has found the authority, so the authority's subject is the issuer of the leaf.
  const std::unique_ptr<X509, decltype(&X509_free)> issuer(X509_new(), X509_free);
  X509_set_subject_name(issuer.get(), X509_get_issuer_name(leaf));
  return unknown + " (possibly because of " +
         quoted(std::string("x509: cannot verify signature: insecure algorithm ") + (elliptic ? "ECDSA-SHA1" : "SHA1-RSA")) +
         " while trying to verify candidate authority certificate " + quoted(subject_text(issuer.get())) + ")";
}

std::string verify_error_text(SSL* ssl, long problem, const std::string& wanted) {
  X509* leaf = static_cast<X509*>(SSL_get_ex_data(ssl, refused_index()));
  switch (problem) {
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return "certificate signed by unknown authority";
    case X509_V_ERR_CA_MD_TOO_WEAK:
      return weak_signature_text(leaf);
    case X509_V_ERR_HOSTNAME_MISMATCH:
      return mismatch(leaf, wanted, false);
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return mismatch(leaf, wanted, true);
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return "certificate has expired or is not yet valid: current time " + now_rfc3339() + " is after " +
             time_text(leaf ? X509_get0_notAfter(leaf) : nullptr);
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return "certificate has expired or is not yet valid: current time " + now_rfc3339() + " is before " +
             time_text(leaf ? X509_get0_notBefore(leaf) : nullptr);
    case X509_V_ERR_INVALID_PURPOSE:
      return "certificate specifies an incompatible key usage";
    default:
      return X509_verify_cert_error_string(problem);
  }
}

}  // namespace

std::string system_error_text(const boost::system::error_code& error) {
  std::string text = error.category() == boost::system::system_category() ? std::strerror(error.value()) : error.message();
  if (!text.empty()) text.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(text.front())));
  return text;
}

CertificateFlaws shown_flaws(SSL* ssl) {
  CertificateFlaws out;
  const X509* own = SSL_get0_peer_certificate(ssl);
  if (own == nullptr) return out;
  out.no_alternative_name = X509_get_ext_by_NID(own, NID_subject_alt_name, -1) < 0;
  const STACK_OF(X509)* shown = SSL_get_peer_cert_chain(ssl);
  for (int i = 0; i < sk_X509_num(shown); ++i) {
    const X509* each = sk_X509_value(shown, i);
    const bool self_signed = X509_NAME_cmp(X509_get_issuer_name(each), X509_get_subject_name(each)) == 0;
    out.signed_with_sha1 = out.signed_with_sha1 || (is_signed_with_sha1(each) && !self_signed);
  }
  return out;
}

void keep_refused_certificate(SSL* ssl) {
  if (SSL_get_verify_mode(ssl) != SSL_VERIFY_NONE) SSL_set_verify(ssl, SSL_get_verify_mode(ssl), note_refused);
}

std::string tls_error_text(SSL* ssl, const std::string& wanted, const std::string& openssl_text) {
  const long verified = SSL_get_verify_result(ssl);
  if (verified == X509_V_OK) return "tls: " + openssl_text;
  return "tls: failed to verify certificate: x509: " + verify_error_text(ssl, verified, wanted);
}

}  // namespace backplane
