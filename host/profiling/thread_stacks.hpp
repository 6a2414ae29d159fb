// Reads the stacks of all threads of the process, one thread after the other. For this, a signal interrupts each thread, and the signal
// handler records the thread's stack.
//
// Thread-safety: any thread; concurrent calls run one after the other. The functions block, so they must not be called on an event loop.
// Errors:        none; the stack is empty if the thread ends, or does not respond within `timeout`.
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
  char state = '?';                            // as in /proc/PID/stat: R running, S sleeping, D waiting for a device
  std::chrono::milliseconds processor_time{};  // the CPU time that the thread has used
  Stack stack;
};
std::vector<ThreadStack> thread_stacks(std::chrono::milliseconds timeout);
// As thread_stacks(), but does not read stacks and interrupts no thread.
std::vector<ThreadStack> list_threads();

}  // namespace backplane::profiling
