// One TLS connection without a socket. The caller passes received ciphertext to it and sends the ciphertext that it produces.
//
// OpenSSL reads from and writes to the caller's buffers through a BIO. A turn of the loop therefore needs one read and one write of the
// socket, however many TLS records it processes.
//
// Thread-safety: one executor.
// Lifetime:      a buffer must stay valid until set_input() or set_output() sets another one.
// Errors:        after kFailed, the connection cannot be used any more; error() returns the reason.
#pragma once

#include <string>
#include <string_view>

#include "transport/openssl_ptr.hpp"

namespace backplane {

class TlsStream {
 public:
  enum class Step { kDone, kNeedsInput, kClosed, kFailed };

  explicit TlsStream(SSL_CTX* context);
  TlsStream(const TlsStream&) = delete;
  TlsStream& operator=(const TlsStream&) = delete;

  SSL* ssl() const noexcept { return ssl_.get(); }
  // Sets the received ciphertext. To consume all of it, call handshake() until it returns kNeedsInput, or read() until it returns
  // kNeedsInput or read_all() is true.
  void set_input(std::string_view bytes) noexcept { input_ = bytes; }
  // Sets the buffer to which ciphertext is appended; null: ciphertext is discarded.
  void set_output(std::string* out) noexcept { output_ = out; }

  Step handshake();
  // If the result is kDone, `buffer` has `got` bytes.
  Step read(char* buffer, std::size_t size, std::size_t& got);
  // Called after read() has returned kDone. True if the next read() would return kNeedsInput.
  bool read_all() const noexcept { return input_.empty() && SSL_pending(ssl_.get()) == 0; }
  // Encrypts all of `text`. Called after the handshake.
  Step write(std::string_view text);
  // Appends a close_notify alert to the output, if the handshake has finished.
  void close();
  const std::string& error() const noexcept { return error_; }

 private:
  friend struct TlsBio;
  Step step(int result);

  SslPtr ssl_;
  std::string_view input_;
  std::string* output_ = nullptr;
  std::string error_;
};

}  // namespace backplane
