// Blocking operations on non-blocking sockets, with a deadline for each step. Only for threads that may block.
//
// Thread-safety: any thread; only one thread at a time uses a socket.
// Errors:        kServiceUnavailable with Go's messages.
#pragma once

#include <unistd.h>

#include <string>
#include <utility>

#include "backplane/core/status.hpp"

namespace backplane::egress {

class Socket {
 public:
  explicit Socket(int fd) noexcept : fd_(fd) {}
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }
  Socket(Socket&& other) noexcept : fd_(other.release()) {}
  Socket(const Socket&) = delete;
  Socket& operator=(Socket&& other) noexcept {
    if (this != &other) {
      if (fd_ >= 0) close(fd_);
      fd_ = other.release();
    }
    return *this;
  }
  int get() const noexcept { return fd_; }
  int release() noexcept { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

// Waits for POLLIN or POLLOUT.  Returns 0 if the socket is ready, otherwise an errno value.
int wait_ready(int fd, short what);
Result<int> dial_unix(const std::string& path);
Result<int> dial_tcp(const std::string& host, const std::string& port);

}  // namespace backplane::egress
