#include "transport/sockets.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace backplane {
namespace {

Status socket_failure(const std::string& what, int error) {
  return internal_error("failed to listen on " + what + ": " + std::strerror(error));
}

struct BindAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;
  bool every_family = false;
};

void set_v6_any(BindAddress& bind, std::uint16_t port) {
  auto& v6 = reinterpret_cast<sockaddr_in6&>(bind.storage);
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  v6.sin6_addr = in6addr_any;
  bind.size = sizeof v6;
}

void set_v4(BindAddress& bind, in_addr address, std::uint16_t port) {
  bind.storage = {};
  auto& v4 = reinterpret_cast<sockaddr_in&>(bind.storage);
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port);
  v4.sin_addr = address;
  bind.size = sizeof v4;
}

Result<BindAddress> parse_bind_address(const std::string& text, std::uint16_t port) {
  BindAddress bind;
  in_addr v4{};
  in6_addr v6{};
  if (text.empty() || text == "0.0.0.0" || text == "::") {
    bind.every_family = true;
    set_v6_any(bind, port);
  } else if (inet_pton(AF_INET, text.c_str(), &v4) == 1) {
    set_v4(bind, v4, port);
  } else if (inet_pton(AF_INET6, text.c_str(), &v6) == 1) {
    set_v6_any(bind, port);
    reinterpret_cast<sockaddr_in6&>(bind.storage).sin6_addr = v6;
  } else {
    return bad_request("\"" + text + "\" is not an IP address");
  }
  return bind;
}

void set_flag(int fd, int level, int name, int value) { ::setsockopt(fd, level, name, &value, sizeof value); }

// Returns the socket, or the negative errno value.
int open_and_bind(const BindAddress& bind, const ServingOptions& options) {
  FileDescriptor fd(::socket(bind.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return -errno;
  if (options.reuse_address) set_flag(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (options.reuse_port) set_flag(fd.get(), SOL_SOCKET, SO_REUSEPORT, 1);
  if (bind.storage.ss_family == AF_INET6) set_flag(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, bind.every_family ? 0 : 1);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&bind.storage), bind.size) != 0) return -errno;
  if (::listen(fd.get(), options.backlog) != 0) return -errno;
  return fd.release();
}

bool is_v4_in_v6(const in6_addr& address) { return IN6_IS_ADDR_V4MAPPED(&address); }

}  // namespace

void FileDescriptor::reset(int fd) noexcept {
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

Result<FileDescriptor> listen_tcp(const ServingOptions& options) {
  const std::string what = options.bind_address + ":" + std::to_string(options.port);
  auto bind = parse_bind_address(options.bind_address, options.port);
  if (!bind.ok()) return std::move(bind.status());
  int fd = open_and_bind(*bind, options);
  if (fd == -EAFNOSUPPORT && bind->every_family) {  // the machine has no IPv6
    set_v4(*bind, in_addr{INADDR_ANY}, options.port);
    fd = open_and_bind(*bind, options);
  }
  if (fd < 0) return socket_failure(what, -fd);
  return FileDescriptor(fd);
}

Result<FileDescriptor> listen_unix(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) return bad_request("the socket path \"" + path + "\" is empty or too long");
  std::memcpy(address.sun_path, path.data(), path.size());
  const auto* bytes = reinterpret_cast<const sockaddr*>(&address);
  const FileDescriptor probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(probe.get(), bytes, sizeof address) == 0) return socket_failure(path, EADDRINUSE);
  struct stat what {};
  if (::lstat(path.c_str(), &what) == 0) {
    if (!S_ISSOCK(what.st_mode)) return socket_failure(path, EEXIST);
    ::unlink(path.c_str());
  }
  FileDescriptor fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return socket_failure(path, errno);
  // The mode is set after bind(), which creates the file, and before listen(), which allows clients to connect.
  if (::bind(fd.get(), bytes, sizeof address) != 0) return socket_failure(path, errno);
  if (::chmod(path.c_str(), 0600) != 0 || ::listen(fd.get(), 64) != 0) return socket_failure(path, errno);
  return fd;
}

std::uint16_t bound_port(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  if (address.ss_family == AF_INET) return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
  if (address.ss_family == AF_INET6) return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
  return 0;
}

std::string address_without_port(const sockaddr_storage& address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address.ss_family == AF_INET) {
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(address).sin_addr, text, sizeof text);
  } else if (address.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
    if (is_v4_in_v6(v6)) {
      inet_ntop(AF_INET, &v6.s6_addr[12], text, sizeof text);
    } else {
      inet_ntop(AF_INET6, &v6, text, sizeof text);
    }
  }
  return text;
}

std::string address_with_port(const sockaddr_storage& address) {
  const std::string host = address_without_port(address);
  if (address.ss_family == AF_INET) return host + ":" + std::to_string(ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port));
  if (address.ss_family != AF_INET6) return "@";
  const auto port = std::to_string(ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port));
  return host.find(':') == std::string::npos ? host + ":" + port : "[" + host + "]:" + port;
}

void tune_tcp(int fd, std::chrono::seconds keepalive) {
  set_flag(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  if (keepalive.count() <= 0) return;
  set_flag(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_flag(fd, IPPROTO_TCP, TCP_KEEPIDLE, static_cast<int>(keepalive.count()));
  set_flag(fd, IPPROTO_TCP, TCP_KEEPINTVL, static_cast<int>(keepalive.count()));
}

}  // namespace backplane
