// systemd's side of a service: notifications (NOTIFY_SOCKET), the watchdog (WATCHDOG_USEC) and sockets that it has opened (LISTEN_FDS).
//
// Thread-safety: from_environment(): startup, before other threads: it changes the environment. The rest from any thread.
// Errors:        kBadRequest for a NOTIFY_SOCKET that is not an address; kInternalError for a message that was not accepted, and for
//                sockets that are no listening TCP sockets.
// Source:        sd_notify(3), sd_watchdog_enabled(3), sd_listen_fds(3).
#pragma once

#include <chrono>
#include <string>

#include "transport/sockets.hpp"

namespace backplane {

class ServiceManager {
 public:
  ServiceManager() = default;
  // Reads the variables and removes them from the environment, so that no child process inherits them.
  static ServiceManager from_environment();

  // True if a service manager receives notifications.
  bool present() const noexcept { return !notify_socket_.empty(); }
  // Sends lines of the form NAME=VALUE. Success if there is no socket.
  Status notify(const std::string& state) const;
  // The time within which WATCHDOG=1 must be sent; 0: it need not be sent.
  std::chrono::microseconds watchdog() const noexcept { return watchdog_; }
  // The first socket that was passed; invalid if there is none, or if it was taken before.
  Result<FileDescriptor> take_listener();

 private:
  std::string notify_socket_;
  std::chrono::microseconds watchdog_{0};
  int listeners_ = 0;
};

// The ServiceManager of this process; made by the first call.
ServiceManager& service_manager();

}  // namespace backplane
