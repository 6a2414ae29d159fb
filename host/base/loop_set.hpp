// One loop for each name, so that a blocked loop does not delay the others.
//
// Thread-safety: of() from any thread; start() and stop() on one.
// Lifetime:      the loops live as long as the set; nothing runs on them before start() and after stop().
// Errors:        stop() returns the names of the loops whose thread has not ended.
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
  // The loop of `name`, made by the first call.
  Executor& of(const std::string& name);
  std::size_t size() const;
  // CPU time that the threads of the loops have used; without those that have ended.
  std::chrono::nanoseconds cpu_time() const;
  // Starts the loops: posted work runs from then on.
  void start();
  // Returns the names of the loops that have not ended within `limit`, which applies to all together.  Their threads still run, so the
  // process must exit without destroying what they use.
  std::vector<std::string> stop(std::chrono::nanoseconds limit);

 private:
  void start(IoLoop& loop);

  mutable std::mutex mutex_;
  std::map<std::string, std::unique_ptr<IoLoop>> loops_;
  std::vector<std::shared_ptr<std::atomic<int>>> clocks_;  // of the threads
  bool started_ = false;
};

}  // namespace backplane
