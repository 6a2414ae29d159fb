#include "app/sd_notify.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace backplane {

Status sd_notify(const std::string& state) {
  const char* value = std::getenv("NOTIFY_SOCKET");
  if (value == nullptr || *value == '\0') return {};
  const std::string path = value;
  unsetenv("NOTIFY_SOCKET");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return bad_request("NOTIFY_SOCKET is too long: " + path);
  std::memcpy(address.sun_path, path.data(), path.size());
  // "@name" is a name without a file.
  if (path.front() == '@') address.sun_path[0] = '\0';
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return internal_error(std::string("socket: ") + std::strerror(errno));
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  const ssize_t sent = sendto(fd, state.data(), state.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address), size);
  const int error = errno;
  close(fd);
  if (sent != static_cast<ssize_t>(state.size())) return internal_error("unable to notify " + path + ": " + std::strerror(error));
  return {};
}

}  // namespace backplane
