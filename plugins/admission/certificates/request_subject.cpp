#include "certificates/request_subject.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <memory>

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

std::vector<std::string> entries_of(const X509_NAME* name, int entry) {
  std::vector<std::string> out;
  for (int at = -1; (at = X509_NAME_get_index_by_NID(name, entry, at)) >= 0;) {
    const ASN1_STRING* text = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at));
    out.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)), static_cast<std::size_t>(ASN1_STRING_length(text)));
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
