// The stacks of all threads of the process, one thread after the other.
//
// A signal interrupts each thread; its handler records the stack of the interrupted thread.
// Thread-safety: any thread; calls exclude each other. Waits: not on an event loop.
// Errors:        a thread that ends, or does not respond within `patience`, has an empty stack.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "profiling/profile.hpp"

namespace backplane::profiling {

struct ThreadStack {
  pid_t id = 0;
  std::string name;
  char state = '?';                            // as in /proc/PID/stat: R running, S sleeping, D in a device
  std::chrono::milliseconds processor_time{};  // that it has used
  Stack stack;
};
std::vector<ThreadStack> thread_stacks(std::chrono::milliseconds patience);
// The same without stacks, without interrupting a thread.
std::vector<ThreadStack> list_threads();

}  // namespace backplane::profiling
