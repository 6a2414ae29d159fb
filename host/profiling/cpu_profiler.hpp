// Samples the stacks of the running threads of the process: after each period of CPU time, SIGPROF interrupts a thread, and the handler
// records the thread's stack.
//
//   CpuProfiler profiler;
//   if (Status status = profiler.start(); !status.ok()) …
//   profiler.collect(profile);  // at least every second
//   profiler.stop();
//
// There is no overhead while no profiler runs.
//
// Thread-safety: one thread at a time; the signal handler runs on any thread.
// Lifetime:      the destructor calls stop().
// Errors:        start() returns kAlreadyExists if another profiler of the process runs.
#pragma once

#include <chrono>
#include <cstddef>

#include "backplane/core/status.hpp"
#include "profiling/profile.hpp"

namespace backplane::profiling {

class CpuProfiler {
 public:
  static constexpr std::chrono::nanoseconds kPeriod = std::chrono::milliseconds(10);  // as Go: 100 Hz

  CpuProfiler() = default;
  ~CpuProfiler() { stop(); }
  CpuProfiler(const CpuProfiler&) = delete;
  CpuProfiler& operator=(const CpuProfiler&) = delete;

  Status start();
  // Moves the samples since the last call to `profile`, whose sample types are {samples, cpu}. Waits for running signal handlers, so it
  // must not be called on an event loop.
  void collect(Profile& profile);
  void stop() noexcept;
  // The number of samples that were lost because collect() was called too late and the buffer was full.
  std::size_t lost() const noexcept;

 private:
  bool running_ = false;
};

}  // namespace backplane::profiling
