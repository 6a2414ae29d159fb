// Gives memory back to the system that has been freed: after a burst (large definitions, documents, a load) the allocator keeps it for
// itself otherwise, in pieces all over its heaps.
//
// Thread-safety: start() and stop() from one thread; looks run on the blocking executor.
// Lifetime:      the executors outlive stop().
// Errors:        none; an allocator that does not report its free memory is not trimmed.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>

#include "backplane/core/task.hpp"

namespace backplane {

// Of this process, now; 0 if the system does not report it.
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
  // What is done at each interval: gives back what is free, if that is worth the time and memory has grown, or some of it has been freed,
  // since it was done last.
  // True when it was done.
  bool look();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace backplane
