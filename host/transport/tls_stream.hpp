// One TLS connection without a socket: ciphertext in, ciphertext out, both in buffers of the caller.
//
// OpenSSL reads and writes through a BIO that points into the caller's buffers, so that a turn of the loop costs one read and one write
// of the socket however many records it makes.
//
// Thread-safety: one executor.
// Lifetime:      the buffers of set_input() and set_output() outlive the calls that use them.
// Errors:        kFailed is final; error() has the reason.
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
  // Sets received ciphertext. Then call handshake() until kNeedsInput, and read() until kNeedsInput or read_all(): all of it has been
  // consumed then.
  void set_input(std::string_view bytes) noexcept { input_ = bytes; }
  // The buffer to which ciphertext is appended.
  void set_output(std::string* out) noexcept { output_ = out; }

  Step handshake();
  // kDone: `got` bytes are in `buffer`.
  Step read(char* buffer, std::size_t size, std::size_t& got);
  // After read() has returned kDone: whether the next call would return kNeedsInput.
  bool read_all() const noexcept { return input_.empty() && SSL_pending(ssl_.get()) == 0; }
  // Encrypts all of `text`, after the handshake.
  Step write(std::string_view text);
  // Appends close_notify.
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
