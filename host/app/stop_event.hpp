// Asking the process to end: SIGTERM and SIGINT.
//
// Thread-safety: wait() on one thread; the signal handler may run on any.
// Lifetime:      one per process; lives as long as it.
// Errors:        a second StopEvent aborts: two of them would fight over the signals.
#pragma once

#include <atomic>

namespace backplane {

class StopEvent {
 public:
  StopEvent();
  StopEvent(const StopEvent&) = delete;
  StopEvent& operator=(const StopEvent&) = delete;
  ~StopEvent();

  // From here on the first SIGTERM or SIGINT asks for a stop, and the second ends the process at once with code 1.
  void install_signal_handlers();
  // Returns when the first signal has come.
  void wait();
  // Readable from the first signal on.
  int descriptor() const noexcept { return fd_; }

 private:
  int fd_;
};

}  // namespace backplane
