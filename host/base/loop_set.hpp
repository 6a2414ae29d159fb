// A set of named loops, each with a thread, so that a blocked loop does not delay the others.
//
// Thread-safety: of(), size() and cpu_time() from any thread; start() and stop() from one thread.
// Lifetime:      the loops live as long as the set. Work runs on them between start() and stop() only, except on the loops that stop()
// returns. Errors:        stop() returns the names of the loops whose threads have not ended in time.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/io_loop.hpp"

namespace backplane {

class LoopSet {
 public:
  // The loop of `name`; the first call makes it.
  Executor& of(const std::string& name);
  std::size_t size() const;
  // The CPU time that the running threads of the loops have used.
  std::chrono::nanoseconds cpu_time() const;
  // Starts the loops, also those that of() makes later. Work that was posted before runs now.
  void start();
  // Stops all loops and waits for their threads for at most `limit` in total. Returns the names of the loops whose threads still run; then
  // the process must exit without destroying the objects that these threads use.
  std::vector<std::string> stop(std::chrono::nanoseconds limit);

 private:
  void start(IoLoop& loop);

  mutable std::mutex mutex_;
  std::map<std::string, std::unique_ptr<IoLoop>> loops_;
  std::vector<std::shared_ptr<std::atomic<int>>> clocks_;  // the CPU clock of each thread (clockid_t)
  bool started_ = false;
};

}  // namespace backplane
