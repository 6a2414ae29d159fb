#include "backplane/kit/certificate_subject.hpp"

#include <openssl/asn1.h>
#include <openssl/x509.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

namespace backplane BACKPLANE_API {
namespace kit BACKPLANE_API {
namespace {

using Byte = unsigned char;

bool is_digit(Byte c) { return '0' <= c && c <= '9'; }
// Go allows two characters in a PrintableString that the standard does not allow: '*' and '&'.
bool is_printable(Byte c) {
  const bool letter = ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z');
  return letter || is_digit(c) || (c != 0 && std::strchr(" '()+,-./:=?*&", c) != nullptr);
}
bool is_numeric(Byte c) { return is_digit(c) || c == ' '; }
bool is_ascii(Byte c) { return c < 0x80; }

struct Alphabet {
  int type;
  bool (*allows)(Byte);
  const char* problem;
};
constexpr Alphabet kAlphabets[] = {
    {V_ASN1_PRINTABLESTRING, is_printable, "asn1: syntax error: PrintableString contains invalid character"},
    {V_ASN1_NUMERICSTRING, is_numeric, "asn1: syntax error: NumericString contains invalid character"},
    {V_ASN1_IA5STRING, is_ascii, "asn1: syntax error: IA5String contains invalid character"},
};

bool is_utf8(std::string_view bytes) {
  const auto* at = reinterpret_cast<const Byte*>(bytes.data());
  for (auto left = static_cast<int>(bytes.size()); left > 0;) {
    unsigned long point = 0;
    const int size = UTF8_getc(at, left, &point);
    if (size <= 0 || point > 0x10FFFF || (point >= 0xD800 && point <= 0xDFFF)) return false;
    at += size;
    left -= size;
  }
  return true;
}

// True for reserved code points, and for surrogates.
bool is_no_character(unsigned point) {
  return point == 0xFFFE || point == 0xFFFF || (point >= 0xFDD0 && point <= 0xFDEF) || (point >= 0xD800 && point <= 0xDFFF);
}

void append_utf8(std::string& out, unsigned point) {
  const auto put = [&out](unsigned byte) { out.push_back(static_cast<char>(byte)); };
  if (point < 0x80) return put(point);
  if (point < 0x800) {
    put(0xC0 | point >> 6);
  } else {
    put(0xE0 | point >> 12);
    put(0x80 | (point >> 6 & 0x3F));
  }
  put(0x80 | (point & 0x3F));
}

// Decodes a BMPString: two bytes for each character; some encoders add a terminator.
Result<std::string> text_of_bmp(std::string_view bytes) {
  if (bytes.size() % 2 != 0) return bad_request("invalid BMPString");
  if (bytes.ends_with(std::string_view("\0\0", 2))) bytes.remove_suffix(2);
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 2) {
    const unsigned point = static_cast<unsigned>(static_cast<Byte>(bytes[i])) << 8 | static_cast<Byte>(bytes[i + 1]);
    if (is_no_character(point)) return bad_request("invalid BMPString");
    append_utf8(out, point);
  }
  return out;
}

// Returns the text of a value; nullopt if its type is not text.
Result<std::optional<std::string>> text_of_value(const ASN1_STRING* value) {
  const int type = ASN1_STRING_type(value);
  const std::string_view bytes(reinterpret_cast<const char*>(ASN1_STRING_get0_data(value)),
                               static_cast<std::size_t>(ASN1_STRING_length(value)));
  for (const Alphabet& each : kAlphabets) {
    if (each.type == type && !std::all_of(bytes.begin(), bytes.end(), [&](char c) { return each.allows(static_cast<Byte>(c)); }))
      return bad_request(each.problem);
  }
  switch (type) {
    case V_ASN1_UTF8STRING:
      if (!is_utf8(bytes)) return bad_request("asn1: invalid UTF-8 string");
      [[fallthrough]];
    case V_ASN1_PRINTABLESTRING:
    case V_ASN1_NUMERICSTRING:
    case V_ASN1_IA5STRING:
    case V_ASN1_T61STRING:
      return std::optional<std::string>(bytes);
    case V_ASN1_BMPSTRING: {
      auto text = text_of_bmp(bytes);
      if (!text.ok()) return std::move(text.status());
      return std::optional<std::string>(std::move(*text));
    }
    default:
      return std::optional<std::string>();
  }
}

}  // namespace

Result<CertificateSubject> read_certificate_subject(const X509_name_st* name) {
  CertificateSubject out;
  for (int i = 0; i < X509_NAME_entry_count(name); ++i) {
    const X509_NAME_ENTRY* entry = X509_NAME_get_entry(name, i);
    auto text = text_of_value(X509_NAME_ENTRY_get_data(entry));
    if (!text.ok()) return std::move(text.status());
    if (!*text) continue;
    const int type = OBJ_obj2nid(X509_NAME_ENTRY_get_object(entry));
    if (type == NID_organizationName) out.organizations.push_back(std::move(**text));
    if (type == NID_commonName) out.common_name = std::move(**text);
  }
  return out;
}

}  // namespace BACKPLANE_API
}  // namespace BACKPLANE_API
