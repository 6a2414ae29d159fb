// Asks a server to stop, by a call or by SIGTERM and SIGINT.
//
// Thread-safety: wait() on one thread; request() from any; the signal handler may run on any.
// Lifetime:      one object for each server. The object that handles the signals does so until it is destroyed.
// Errors:        a second StopEvent of the process that installs signal handlers aborts, because the signals are those of one server.
#pragma once

#include <atomic>

namespace backplane {

class StopEvent {
 public:
  StopEvent();
  StopEvent(const StopEvent&) = delete;
  StopEvent& operator=(const StopEvent&) = delete;
  ~StopEvent();

  // From here on the first SIGTERM or SIGINT starts the shutdown, and the second ends the process at once with code 1.
  void install_signal_handlers();
  // Asks for a stop of this server alone.  Any thread.
  void request();
  // Returns after the first signal or request.
  void wait();
  // The descriptor becomes readable with the first signal or request.
  int descriptor() const noexcept { return fd_; }

 private:
  int fd_;
};

}  // namespace backplane
