// A thread on which the host calls a plugin, so that a call that does not return can be given up.
//
// Thread-safety: run() by one thread at a time.
// Lifetime:      a call that was given up keeps its thread, and what it has captured, until it returns; the process must then exit without
//                destroying what the call may use (timed_out_calls()).
// Errors:        run() returns false if the call has not returned in time.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>

namespace backplane {

class CallThread {
 public:
  CallThread() = default;
  ~CallThread();
  CallThread(const CallThread&) = delete;
  CallThread& operator=(const CallThread&) = delete;

  // Runs `call`, which must not throw, and waits for it. After `limit` the call is given up, and the next call gets a new thread. If
  // `limit` <= 0, there is no limit. The thread has the server slot of the caller.
  bool run(std::function<void()> call, std::chrono::nanoseconds limit);
  // Ends the idle thread.
  void stop();

 private:
  struct Worker;
  std::shared_ptr<Worker> worker_;
};

// The number of calls of the calling thread's server that timed out and have not returned.
std::size_t timed_out_calls() noexcept;

}  // namespace backplane
