// Ends a process that was asked to stop while a plugin call does not return: logs a line that names the plugin and the call, and exits with
// code 1.
//
// Thread-safety: each object runs one thread during its lifetime.
// Lifetime:      made and destroyed on the main thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "app/stop_event.hpp"

namespace backplane {

// Watches for SIGTERM while the server is being made, when no loop handles the signal. Ends the process if a plugin's constructor,
// configure(), provision() or validate() still runs `limit` after the signal; otherwise the server is made completely, and then stops in
// order.
class LoadDeadline {
 public:
  LoadDeadline(const StopEvent& stop, std::chrono::milliseconds limit);
  ~LoadDeadline();
  LoadDeadline(const LoadDeadline&) = delete;
  LoadDeadline& operator=(const LoadDeadline&) = delete;

 private:
  void watch();

  const StopEvent& stop_;
  const std::chrono::milliseconds limit_;
  int loaded_;  // eventfd
  std::thread thread_;
};

// Covers the time from the signal to the end of the process. `limit`: the sum of the limits of all steps of the shutdown.
class ShutdownDeadline {
 public:
  explicit ShutdownDeadline(std::chrono::nanoseconds limit);
  ~ShutdownDeadline();
  ShutdownDeadline(const ShutdownDeadline&) = delete;
  ShutdownDeadline& operator=(const ShutdownDeadline&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable condition_;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace backplane
