// Asking the process to end: SIGTERM and SIGINT, or a hook that cannot go on.
//
// Thread-safety: request() from any thread; wait() on one; the signal handler may run on any.
// Lifetime:      one per process; lives as long as it.
// Errors:        a second StopEvent aborts: two of them would fight over the signals.
#pragma once

#include <atomic>
#include <mutex>
#include <string>

namespace backplane {

class StopEvent {
 public:
  StopEvent();
  StopEvent(const StopEvent&) = delete;
  StopEvent& operator=(const StopEvent&) = delete;
  ~StopEvent();

  // From here on the first SIGTERM or SIGINT asks for a stop, and the second ends the process at once with code 1.
  void install_signal_handlers();
  // Ends wait(); an empty `failure` is an ordinary stop.
  void request(std::string failure);
  // Returns the failure, empty for an ordinary stop.
  std::string wait();

 private:
  int fd_;
  std::mutex mutex_;
  std::string failure_;
};

}  // namespace backplane
