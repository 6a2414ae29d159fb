// Samples what the threads of the process execute: SIGPROF after each period of processor time, and the stack that it interrupts.
//
//   CpuProfiler profiler;
//   if (Status status = profiler.start(); !status.ok()) …
//   profiler.collect(profile);  // at least every second
//   profiler.stop();
//
// Between profiles it costs nothing.
// Thread-safety: one thread at a time; the signal handler runs on any thread.
// Lifetime:      the destructor stops.
// Errors:        kAlreadyExists if another profiler of the process runs.
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
  // Moves the samples since the last call to `profile`, whose types are {samples, cpu}. Waits for handlers that are running: not on an
  // event loop.
  void collect(Profile& profile);
  void stop() noexcept;
  // Samples for which there was no memory, because collect() was called too late.
  std::size_t lost() const noexcept;

 private:
  bool running_ = false;
};

}  // namespace backplane::profiling
