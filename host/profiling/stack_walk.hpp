// The stack of the running thread.
//
// Thread-safety: walk_interrupted_stack() is for signal handlers, and async-signal-safe with glibc 2.35 or later: the unwinder finds unwind
//                tables without a lock (_dl_find_object).
// Errors:        none; a stack that cannot be unwound is cut.
#pragma once

#include <cstddef>
#include <cstdint>

namespace backplane::profiling {

inline constexpr std::size_t kMostFrames = 100;

// Writes at most kMostFrames addresses to `out`, beginning with the instruction that the signal of `context` (a ucontext_t) has
// interrupted, and returns their number. While StackWalkGuard exists, a memory fault in the unwinder ends the walk instead of the process.
std::size_t walk_interrupted_stack(const void* context, std::uintptr_t* out) noexcept;

// The same outside of signal handlers, beginning with the caller's caller.
std::size_t walk_own_stack(std::uintptr_t* out) noexcept;

// Handles SIGSEGV and SIGBUS of walks; other faults are handled as before. Any number may exist.
class StackWalkGuard {
 public:
  StackWalkGuard();
  ~StackWalkGuard();
  StackWalkGuard(const StackWalkGuard&) = delete;
  StackWalkGuard& operator=(const StackWalkGuard&) = delete;
};

}  // namespace backplane::profiling
