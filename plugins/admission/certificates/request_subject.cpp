#include "certificates/request_subject.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <memory>
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

}  // namespace

Result<RequestSubject> read_request_subject(std::string_view base64) {
  const FirstBlock block(from_base64(base64).value_or(std::string()));
  if (!block.is("CERTIFICATE REQUEST")) return bad_request("PEM block type must be CERTIFICATE REQUEST");
  if (block.empty()) return bad_request("asn1: syntax error: sequence truncated");
  const RequestPtr request = block.request();
  if (request == nullptr) return bad_request("asn1: structure error: malformed certificate request");
  return kit::read_certificate_subject(X509_REQ_get_subject_name(request.get()));
}

}  // namespace backplane::admission::certificates
