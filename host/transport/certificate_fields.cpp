#include "transport/certificate_fields.hpp"

#include <arpa/inet.h>

#include <cstring>
#include <ctime>

namespace backplane {
namespace {

using NamesPtr = std::unique_ptr<GENERAL_NAMES, OpenSslDeleter<GENERAL_NAMES_free>>;

// Returns the 4 or 16 bytes of an IP address; the result is empty if `text` is not an IP address.
std::string address_bytes(const std::string& text) {
  unsigned char bytes[16];
  if (inet_pton(AF_INET, text.c_str(), bytes) == 1) return std::string(reinterpret_cast<char*>(bytes), 4);
  if (inet_pton(AF_INET6, text.c_str(), bytes) == 1) return std::string(reinterpret_cast<char*>(bytes), 16);
  return {};
}

std::string address_text(std::string_view bytes) {
  char text[INET6_ADDRSTRLEN];
  const int family = bytes.size() == 4 ? AF_INET : AF_INET6;
  if (bytes.size() != 4 && bytes.size() != 16) return {};
  return inet_ntop(family, bytes.data(), text, sizeof text) == nullptr ? std::string() : std::string(text);
}

bool push_name(GENERAL_NAMES* names, int type, std::string_view bytes) {
  GENERAL_NAME* name = GENERAL_NAME_new();
  ASN1_STRING* value = ASN1_STRING_type_new(type == GEN_DNS ? V_ASN1_IA5STRING : V_ASN1_OCTET_STRING);
  if (name == nullptr || value == nullptr) return false;
  ASN1_STRING_set(value, bytes.data(), static_cast<int>(bytes.size()));
  GENERAL_NAME_set0_value(name, type, value);
  return sk_GENERAL_NAME_push(names, name) > 0;
}

std::string_view text_of(const ASN1_STRING* value) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(value)), static_cast<std::size_t>(ASN1_STRING_length(value))};
}

std::vector<std::string> subject_values(const X509* certificate, const ASN1_OBJECT* type) {
  std::vector<std::string> values;
  const X509_NAME* subject = X509_get_subject_name(certificate);
  for (int at = X509_NAME_get_index_by_OBJ(subject, type, -1); at >= 0; at = X509_NAME_get_index_by_OBJ(subject, type, at)) {
    unsigned char* utf8 = nullptr;
    const int size = ASN1_STRING_to_UTF8(&utf8, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
    if (size < 0) continue;
    values.emplace_back(reinterpret_cast<char*>(utf8), static_cast<std::size_t>(size));
    OPENSSL_free(utf8);
  }
  return values;
}
std::vector<std::string> subject_values(const X509* certificate, int nid) { return subject_values(certificate, OBJ_nid2obj(nid)); }

// Calls `visit(type, bytes)` for each subject alternative name that is a DNS name, an email address, a URI or an IP address.
template <class Visit>
void each_alternative_name(const X509* certificate, Visit visit) {
  const NamesPtr names(static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    int type = 0;
    const void* const value = GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(names.get(), i), &type);
    if (type == GEN_DNS || type == GEN_EMAIL || type == GEN_URI || type == GEN_IPADD)
      visit(type, text_of(static_cast<const ASN1_STRING*>(value)));
  }
}

void describe_alternative_names(const X509* certificate, PeerCertificate& described) {
  each_alternative_name(certificate, [&described](int type, std::string_view value) {
    if (type == GEN_DNS) described.dns_names.emplace_back(value);
    if (type == GEN_EMAIL) described.email_addresses.emplace_back(value);
    if (type == GEN_URI) described.uris.emplace_back(value);
    if (type == GEN_IPADD) described.ip_addresses.push_back(address_text(value));
  });
}

std::string serial_of(const X509* certificate) {
  const std::unique_ptr<BIGNUM, OpenSslDeleter<BN_free>> number(ASN1_INTEGER_to_BN(X509_get0_serialNumber(certificate), nullptr));
  char* const digits = number ? BN_bn2hex(number.get()) : nullptr;
  if (digits == nullptr) return {};
  std::string text = digits;
  OPENSSL_free(digits);
  return text;
}

std::string issuer_of(const X509* certificate) {
  const std::unique_ptr<BIO, OpenSslDeleter<BIO_free_all>> out(BIO_new(BIO_s_mem()));
  constexpr unsigned long kFlags = XN_FLAG_RFC2253 & ~static_cast<unsigned long>(ASN1_STRFLGS_ESC_MSB);  // UTF-8 is not escaped
  if (!out || X509_NAME_print_ex(out.get(), X509_get_issuer_name(certificate), 0, kFlags) < 0) return {};
  char* text = nullptr;
  const long size = BIO_get_mem_data(out.get(), &text);
  return std::string(text, static_cast<std::size_t>(size));
}

// The object identifier of k8s.io/apimachinery's asn1.X509UID().
const ASN1_OBJECT* uid_type() {
  static const std::unique_ptr<ASN1_OBJECT, OpenSslDeleter<ASN1_OBJECT_free>> type(OBJ_txt2obj("1.3.6.1.4.1.57683.2", 1));
  return type.get();
}

}  // namespace

bool add_alternative_names(X509* certificate, const CertificateSpec& spec) {
  if (spec.dns_names.empty() && spec.ip_addresses.empty()) return true;
  const NamesPtr names(GENERAL_NAMES_new());
  bool ok = names != nullptr;
  for (const auto& name : spec.dns_names) ok = ok && !name.empty() && push_name(names.get(), GEN_DNS, name);
  for (const auto& address : spec.ip_addresses) {
    const std::string bytes = address_bytes(address);
    ok = ok && !bytes.empty() && push_name(names.get(), GEN_IPADD, bytes);
  }
  return ok && X509_add1_ext_i2d(certificate, NID_subject_alt_name, names.get(), 0, 0) == 1;
}

std::string canonical_address(const std::string& text) {
  const std::string bytes = address_bytes(text);
  return bytes.empty() ? text : address_text(bytes);
}

std::vector<std::string> certificate_names(const X509* certificate) {
  std::vector<std::string> found;
  each_alternative_name(certificate, [&found](int type, std::string_view value) {
    if (type == GEN_DNS) found.emplace_back(value);
    if (type == GEN_IPADD) found.push_back(address_text(value));
  });
  if (found.empty()) found = subject_values(certificate, NID_commonName);
  return found;
}

PeerCertificate describe_certificate(const X509* certificate) {
  PeerCertificate described;
  const auto names = subject_values(certificate, NID_commonName);
  if (!names.empty()) described.common_name = names.back();
  described.organizations = subject_values(certificate, NID_organizationName);
  described.user_ids = subject_values(certificate, uid_type());
  describe_alternative_names(certificate, described);
  described.serial_number = serial_of(certificate);
  described.issuer = issuer_of(certificate);
  described.not_after = certificate_expiry(certificate);
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  if (X509_digest(certificate, EVP_sha256(), digest, &size) == 1) {
    static constexpr char kHex[] = "0123456789abcdef";
    for (unsigned i = 0; i < size; ++i) {
      described.sha256_fingerprint += kHex[digest[i] >> 4];
      described.sha256_fingerprint += kHex[digest[i] & 15];
    }
  }
  return described;
}

std::chrono::system_clock::time_point certificate_expiry(const X509* certificate) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &parts) != 1) return {};
  const std::time_t seconds = timegm(&parts);
  // Dates that the clock cannot represent ("no expiry" is year 9999) become its maximum.
  constexpr auto kLast = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::duration::max()).count();
  if (seconds >= kLast) return std::chrono::system_clock::time_point::max();
  return std::chrono::system_clock::from_time_t(seconds);
}

}  // namespace backplane
