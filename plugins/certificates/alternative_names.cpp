#include "alternative_names.hpp"

#include <openssl/x509v3.h>

#include <algorithm>
#include <memory>
#include <string>

namespace backplane::certificates {
namespace {

struct FreeExtensions {
  void operator()(STACK_OF(X509_EXTENSION) * extensions) const noexcept { sk_X509_EXTENSION_pop_free(extensions, X509_EXTENSION_free); }
};
using Extensions = std::unique_ptr<STACK_OF(X509_EXTENSION), FreeExtensions>;

struct FreeNames {
  void operator()(GENERAL_NAMES* names) const noexcept { GENERAL_NAMES_free(names); }
};

// The counter of each kind of name, and Go's error text for a name that is not ASCII.
struct TextKind {
  int type;
  int AlternativeNames::*count;
  const char* malformed;
};
constexpr TextKind kTextKinds[] = {
    {GEN_EMAIL, &AlternativeNames::emails, "x509: SAN rfc822Name is malformed"},
    {GEN_DNS, &AlternativeNames::dns_names, "x509: SAN dNSName is malformed"},
    {GEN_URI, &AlternativeNames::uris, "x509: SAN uniformResourceIdentifier is malformed"},
};

bool is_ascii(const ASN1_STRING* text) {
  const unsigned char* begin = ASN1_STRING_get0_data(text);
  return std::all_of(begin, begin + ASN1_STRING_length(text), [](unsigned char c) { return c < 0x80; });
}

Status add_name(const GENERAL_NAME* name, AlternativeNames& out) {
  for (const TextKind& kind : kTextKinds) {
    if (name->type != kind.type) continue;
    if (!is_ascii(name->d.ia5)) return bad_request(kind.malformed);
    ++(out.*kind.count);
  }
  if (name->type != GEN_IPADD) return {};
  const int size = ASN1_STRING_length(name->d.iPAddress);
  if (size != 4 && size != 16) return bad_request("x509: cannot parse IP address of length " + std::to_string(size));
  ++out.addresses;
  return {};
}

bool has_duplicate(const STACK_OF(X509_EXTENSION) * extensions) {
  for (int i = 0; i < sk_X509_EXTENSION_num(extensions); ++i) {
    const ASN1_OBJECT* id = X509_EXTENSION_get_object(sk_X509_EXTENSION_value(extensions, i));
    if (X509v3_get_ext_by_OBJ(extensions, id, i) >= 0) return true;
  }
  return false;
}

}  // namespace

Result<AlternativeNames> read_alternative_names(const X509_req_st* request) {
  AlternativeNames out;
  const Extensions extensions(X509_REQ_get_extensions(const_cast<X509_req_st*>(request)));
  if (has_duplicate(extensions.get())) return bad_request("x509: certificate request contains duplicate requested extensions");
  if (X509v3_get_ext_by_NID(extensions.get(), NID_subject_alt_name, -1) < 0) return out;
  const std::unique_ptr<GENERAL_NAMES, FreeNames> names(
      static_cast<GENERAL_NAMES*>(X509V3_get_d2i(extensions.get(), NID_subject_alt_name, nullptr, nullptr)));
  if (names == nullptr) return bad_request("x509: invalid subject alternative names");
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    Status added = add_name(sk_GENERAL_NAME_value(names.get(), i), out);
    if (!added.ok()) return added;
  }
  return out;
}

}  // namespace backplane::certificates
