// Reads the stack of the calling thread.
//
// Thread-safety: walk_interrupted_stack() may be called in signal handlers. It is async-signal-safe with glibc 2.35 or later, where the
//                unwinder finds unwind tables without a lock (_dl_find_object).
// Errors:        none; if a frame cannot be unwound, the stack ends before it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace backplane::profiling {

inline constexpr std::size_t kMostFrames = 100;

// Writes at most kMostFrames addresses to `out`, and returns their number. The first one is the address of the interrupted instruction.
// `context`: the ucontext_t of the signal handler. If a StackWalkGuard exists, a memory fault in the unwinder ends the walk, not the
// process.
std::size_t walk_interrupted_stack(const void* context, std::uintptr_t* out) noexcept;

// As above, outside of signal handlers. The first address is that of the caller's caller.
std::size_t walk_own_stack(std::uintptr_t* out) noexcept;

// Installs handlers for SIGSEGV and SIGBUS that end a walk; faults outside of walks have their former effect. Several guards may exist.
class StackWalkGuard {
 public:
  StackWalkGuard();
  ~StackWalkGuard();
  StackWalkGuard(const StackWalkGuard&) = delete;
  StackWalkGuard& operator=(const StackWalkGuard&) = delete;
};

}  // namespace backplane::profiling
