#include "transport/tls_stream.hpp"

#include <algorithm>
#include <climits>
#include <cstring>
#include <new>

namespace backplane {
namespace {

// SSL_get_error() reads the thread's error queue, so the queue must be empty before an OpenSSL call. It nearly always is, and a check costs
// less than ERR_clear_error().
void forget_errors() {
  if (ERR_peek_error() != 0) ERR_clear_error();
}

}  // namespace

// The BIO through which OpenSSL uses the caller's buffers.
struct TlsBio {
  static TlsStream& stream(BIO* bio) { return *static_cast<TlsStream*>(BIO_get_data(bio)); }

  static int read(BIO* bio, char* out, std::size_t size, std::size_t* got) {
    TlsStream& self = stream(bio);
    BIO_clear_retry_flags(bio);
    if (self.input_.empty()) {
      BIO_set_retry_read(bio);
      return -1;
    }
    *got = std::min(size, self.input_.size());
    std::memcpy(out, self.input_.data(), *got);
    self.input_.remove_prefix(*got);
    return 1;
  }

  static int write(BIO* bio, const char* bytes, std::size_t size, std::size_t* put) {
    TlsStream& self = stream(bio);
    BIO_clear_retry_flags(bio);
    if (self.output_ != nullptr) self.output_->append(bytes, size);
    *put = size;
    return 1;
  }

  static long control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

  static const BIO_METHOD* method() {
    static const BIO_METHOD* table = [] {
      BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "backplane buffers");
      BIO_meth_set_read_ex(made, read);
      BIO_meth_set_write_ex(made, write);
      BIO_meth_set_ctrl(made, control);
      return made;
    }();
    return table;
  }
};

TlsStream::TlsStream(SSL_CTX* context) : ssl_(SSL_new(context)) {
  BIO* bio = ssl_ ? BIO_new(TlsBio::method()) : nullptr;
  if (bio == nullptr) throw std::bad_alloc();
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl_.get(), bio, bio);
}

TlsStream::Step TlsStream::step(int result) {
  if (result == 1) return Step::kDone;
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return Step::kNeedsInput;
    case SSL_ERROR_ZERO_RETURN:
      return Step::kClosed;
    default:
      error_ = openssl_error();
      return Step::kFailed;
  }
}

TlsStream::Step TlsStream::handshake() {
  forget_errors();
  return step(SSL_do_handshake(ssl_.get()));
}

TlsStream::Step TlsStream::read(char* buffer, std::size_t size, std::size_t& got) {
  forget_errors();
  return step(SSL_read_ex(ssl_.get(), buffer, size, &got));
}

TlsStream::Step TlsStream::write(std::string_view text) {
  forget_errors();
  std::size_t put = 0;
  // The BIO accepts all bytes, so one call writes all records.
  return step(SSL_write_ex(ssl_.get(), text.data(), text.size(), &put));
}

void TlsStream::close() {
  forget_errors();
  if (SSL_is_init_finished(ssl_.get()) == 1) SSL_shutdown(ssl_.get());
  forget_errors();
}

}  // namespace backplane
