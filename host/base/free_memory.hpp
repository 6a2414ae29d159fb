// Returns freed memory to the system at regular intervals. After a burst of allocations (large definitions, documents, loading of caches)
// the allocator would otherwise retain the memory, scattered over its heaps.
//
// Thread-safety: start() and stop() from one thread; look() runs on the blocking executor.
// Lifetime:      the executors must exist until stop().
// Errors:        none; an allocator that does not report its free memory is not trimmed.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>

#include "backplane/core/task.hpp"

namespace backplane {

// The memory of this process; both values are 0 if the system does not report them.
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
  // The work of each interval. Returns free memory to the system if a worthwhile amount is free, and if memory has been allocated or freed
  // since the last release. True: memory was released.
  bool look();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace backplane
