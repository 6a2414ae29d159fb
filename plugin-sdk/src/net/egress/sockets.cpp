#include "net/egress/sockets.hpp"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <system_error>

namespace backplane::egress {
namespace {

constexpr int kPollTimeoutMs = 30'000;

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  return text;
}
std::string error_text(int error) { return lower(std::generic_category().message(error)); }

int connect_to(int fd, const sockaddr* address, socklen_t size) {
  if (connect(fd, address, size) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  if (const int error = wait_ready(fd, POLLOUT); error != 0) return error;
  int error = 0;
  socklen_t length = sizeof error;
  return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : errno;
}

int open_socket(int family) { return socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); }

}  // namespace

int wait_ready(int fd, short what) {
  pollfd one{fd, what, 0};
  const int ready = poll(&one, 1, kPollTimeoutMs);
  return ready > 0 ? 0 : ready == 0 ? ETIMEDOUT : errno;
}

Result<int> dial_unix(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return service_unavailable("dial unix " + path + ": connect: invalid argument");
  std::memcpy(address.sun_path, path.data(), path.size());
  Socket socket(open_socket(AF_UNIX));
  const int error = connect_to(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  if (error != 0) return service_unavailable("dial unix " + path + ": connect: " + error_text(error));
  return socket.release();
}

Result<int> dial_tcp(const std::string& host, const std::string& port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) {
    return service_unavailable("dial tcp: lookup " + host + ": no such host");
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> all(found, freeaddrinfo);
  int error = EHOSTUNREACH;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    Socket socket(open_socket(each->ai_family));
    error = socket.get() < 0 ? errno : connect_to(socket.get(), each->ai_addr, each->ai_addrlen);
    if (error == 0) return socket.release();
  }
  return service_unavailable("dial tcp " + host + ":" + port + ": connect: " + error_text(error));
}

}  // namespace backplane::egress
