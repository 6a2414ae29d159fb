#include "app/service_manager.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace backplane {
namespace {

constexpr int kFirstListener = 3;

std::string take_variable(const char* name) {
  const char* value = std::getenv(name);
  std::string text = value != nullptr ? value : "";
  unsetenv(name);
  return text;
}

long number(std::string_view text) {
  long value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  return read.ec == std::errc() && read.ptr == text.data() + text.size() ? value : 0;
}

// The variables may have been meant for a parent of this process.
bool is_for_this_process(const std::string& pid) { return number(pid) == getpid(); }

Status check_listener(int fd) {
  int listening = 0;
  socklen_t size = sizeof listening;
  sockaddr_storage address{};
  socklen_t address_size = sizeof address;
  const bool socket = getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &size) == 0 &&
                      getsockname(fd, reinterpret_cast<sockaddr*>(&address), &address_size) == 0;
  if (socket && listening != 0 && (address.ss_family == AF_INET || address.ss_family == AF_INET6)) return {};
  return internal_error("LISTEN_FDS: the socket that the service manager passes is not a listening TCP socket");
}

}  // namespace

ServiceManager ServiceManager::from_environment() {
  ServiceManager manager;
  manager.notify_socket_ = take_variable("NOTIFY_SOCKET");
  const std::string watchdog_pid = take_variable("WATCHDOG_PID");
  const long watchdog = number(take_variable("WATCHDOG_USEC"));
  if (watchdog > 0 && (watchdog_pid.empty() || is_for_this_process(watchdog_pid))) manager.watchdog_ = std::chrono::microseconds(watchdog);
  const bool own_sockets = is_for_this_process(take_variable("LISTEN_PID"));
  const long sockets = number(take_variable("LISTEN_FDS"));
  unsetenv("LISTEN_FDNAMES");
  if (own_sockets) manager.listeners_ = static_cast<int>(sockets);
  for (int fd = kFirstListener; fd < kFirstListener + manager.listeners_; ++fd) fcntl(fd, F_SETFD, FD_CLOEXEC);
  return manager;
}

ServiceManager& service_manager() {
  static ServiceManager manager = ServiceManager::from_environment();
  return manager;
}

Status ServiceManager::notify(const std::string& state) const {
  if (notify_socket_.empty()) return {};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (notify_socket_.size() >= sizeof address.sun_path) return bad_request("NOTIFY_SOCKET is too long: " + notify_socket_);
  std::memcpy(address.sun_path, notify_socket_.data(), notify_socket_.size());
  // "@name" is a name without a file.
  if (notify_socket_.front() == '@') address.sun_path[0] = '\0';
  const FileDescriptor fd(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return internal_error(std::string("socket: ") + std::strerror(errno));
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + notify_socket_.size());
  const ssize_t sent = sendto(fd.get(), state.data(), state.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address), size);
  if (sent == static_cast<ssize_t>(state.size())) return {};
  return internal_error("unable to notify " + notify_socket_ + ": " + std::strerror(errno));
}

Result<FileDescriptor> ServiceManager::take_listener() {
  if (listeners_ == 0) return FileDescriptor();
  if (listeners_ > 1) {
    return internal_error("LISTEN_FDS: the service manager passes " + std::to_string(listeners_) + " sockets, the server uses one");
  }
  listeners_ = 0;
  FileDescriptor fd(kFirstListener);
  if (Status status = check_listener(fd.get()); !status.ok()) return status;
  fcntl(fd.get(), F_SETFL, fcntl(fd.get(), F_GETFL) | O_NONBLOCK);
  return fd;
}

}  // namespace backplane
