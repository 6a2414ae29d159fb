// Returns freed memory to the system. After a burst (large definitions, documents, loading of caches) the allocator would otherwise retain
// it, scattered over its heaps.
//
// Thread-safety: start() and stop() from one thread; the work runs on the blocking executor.
// Lifetime:      the executors outlive stop().
// Errors:        none; an allocator that does not report its free memory is not trimmed.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>

#include "backplane/core/task.hpp"

namespace backplane {

// The resident memory of this process; 0 if the system does not report it.
struct MemoryUse {
  std::size_t virtual_bytes = 0;
  std::size_t resident_bytes = 0;
};
MemoryUse memory_use();

class FreeMemory {
 public:
  static constexpr std::chrono::seconds kInterval{10};

  FreeMemory(Executor& timer, Executor& blocking, std::chrono::nanoseconds interval = kInterval);
  ~FreeMemory();
  void start();
  void stop();
  // The work of each interval: returns free memory to the system if there is enough of it to be worth the time, and if memory has grown or
  // has been freed since the last time. Returns true if it released memory.
  bool look();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace backplane
