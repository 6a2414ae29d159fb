#include "certificates/request_subject.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <memory>
#include <optional>
#include <utility>

#include "backplane/types/base64.hpp"

namespace backplane::admission::certificates {
namespace {

struct FreeRequest {
  void operator()(X509_REQ* request) const noexcept { X509_REQ_free(request); }
};
using RequestPtr = std::unique_ptr<X509_REQ, FreeRequest>;

// The first PEM block of a text.
class FirstBlock {
 public:
  explicit FirstBlock(const std::string& text) {
    const std::unique_ptr<BIO, decltype(&BIO_free)> in(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), &BIO_free);
    if (in == nullptr || PEM_read_bio(in.get(), &name_, &header_, &bytes_, &size_) != 1) ERR_clear_error();
  }
  FirstBlock(const FirstBlock&) = delete;
  FirstBlock& operator=(const FirstBlock&) = delete;
  ~FirstBlock() {
    OPENSSL_free(name_);
    OPENSSL_free(header_);
    OPENSSL_free(bytes_);
  }
  bool empty() const noexcept { return size_ == 0; }
  bool is(std::string_view type) const noexcept { return name_ != nullptr && type == name_; }
  RequestPtr request() const {
    const unsigned char* at = bytes_;
    RequestPtr request(d2i_X509_REQ(nullptr, &at, size_));
    if (request == nullptr) ERR_clear_error();
    return at == bytes_ + size_ ? std::move(request) : nullptr;
  }

 private:
  char* name_ = nullptr;
  char* header_ = nullptr;
  unsigned char* bytes_ = nullptr;
  long size_ = 0;
};

std::string_view bytes_of(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)), static_cast<std::size_t>(ASN1_STRING_length(text))};
}

// The UTF-8 form of a BMPString, without the terminator that some encoders add. A text that has no such form equals no name.
std::string text_of_bmp(std::string_view bytes) {
  if (bytes.ends_with(std::string_view("\0\0", 2))) bytes.remove_suffix(2);
  const std::unique_ptr<ASN1_STRING, decltype(&ASN1_STRING_free)> bmp(ASN1_STRING_type_new(V_ASN1_BMPSTRING), &ASN1_STRING_free);
  unsigned char* text = nullptr;
  const bool set = bmp != nullptr && ASN1_STRING_set(bmp.get(), bytes.data(), static_cast<int>(bytes.size())) == 1;
  const int size = set ? ASN1_STRING_to_UTF8(&text, bmp.get()) : -1;
  if (size < 0) ERR_clear_error();
  std::string out = size < 0 ? "\xEF\xBF\xBD" : std::string(reinterpret_cast<char*>(text), static_cast<std::size_t>(size));
  OPENSSL_free(text);
  return out;
}

// The entry as the signer reads it: Go takes other types than these for no text.
std::optional<std::string> text_of_entry(const ASN1_STRING* entry) {
  switch (ASN1_STRING_type(entry)) {
    case V_ASN1_UTF8STRING:
    case V_ASN1_PRINTABLESTRING:
    case V_ASN1_NUMERICSTRING:
    case V_ASN1_IA5STRING:
    case V_ASN1_T61STRING:
      return std::string(bytes_of(entry));
    case V_ASN1_BMPSTRING:
      return text_of_bmp(bytes_of(entry));
    default:
      return std::nullopt;
  }
}

std::vector<std::string> entries_of(const X509_NAME* name, int entry) {
  std::vector<std::string> out;
  for (int at = -1; (at = X509_NAME_get_index_by_NID(name, entry, at)) >= 0;) {
    auto text = text_of_entry(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
    if (text) out.push_back(std::move(*text));
  }
  return out;
}

}  // namespace

Result<RequestSubject> read_request_subject(std::string_view base64) {
  const FirstBlock block(from_base64(base64).value_or(std::string()));
  if (!block.is("CERTIFICATE REQUEST")) return bad_request("PEM block type must be CERTIFICATE REQUEST");
  if (block.empty()) return bad_request("asn1: syntax error: sequence truncated");
  const RequestPtr request = block.request();
  if (request == nullptr) return bad_request("asn1: structure error: malformed certificate request");
  const X509_NAME* name = X509_REQ_get_subject_name(request.get());
  RequestSubject out;
  out.organizations = entries_of(name, NID_organizationName);
  // Go's parser keeps the last common name.
  const std::vector<std::string> names = entries_of(name, NID_commonName);
  if (!names.empty()) out.common_name = names.back();
  return out;
}

}  // namespace backplane::admission::certificates
