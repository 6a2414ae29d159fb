// Listening sockets and the text of addresses.
//
// Thread-safety: any thread.
// Errors:        kBadRequest for an invalid address or path; otherwise kInternalError with the address and the system's reason.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>

#include "backplane/core/status.hpp"
#include "transport/serving_options.hpp"

namespace backplane {

// A file descriptor that the destructor closes.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) noexcept : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    reset(other.release());
    return *this;
  }
  ~FileDescriptor() { reset(); }
  int get() const noexcept { return fd_; }
  bool valid() const noexcept { return fd_ >= 0; }
  int release() noexcept {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }
  void reset(int fd = -1) noexcept;

 private:
  int fd_ = -1;
};

// Returns a bound, listening, non-blocking socket.
Result<FileDescriptor> listen_tcp(const ServingOptions& options);
// Returns a listening Unix socket that only this user may open. A socket file at `path` without a listening process is replaced; a socket
// file with a listening process is an error.
Result<FileDescriptor> listen_unix(const std::string& path);
// Returns the port to which a socket is bound; 0 if it has none.
std::uint16_t bound_port(int fd);

// Returns "1.2.3.4:5" or "[::1]:5". An IPv4 address that is mapped to IPv6 is written as IPv4. Unix sockets have "@".
std::string address_with_port(const sockaddr_storage& address);
std::string address_without_port(const sockaddr_storage& address);
// Sets TCP_NODELAY and the keepalive interval; failures are ignored.
void tune_tcp(int fd, std::chrono::seconds keepalive);

}  // namespace backplane
