// The address of the instruction that a signal has interrupted.
//
// Thread-safety: may be called in signal handlers.
#pragma once

#include <ucontext.h>

#include <cstdint>

namespace backplane {

// `context`: the third argument of a signal handler (SA_SIGINFO). Returns 0 on processors other than x86-64 and AArch64.
inline std::uintptr_t interrupted_instruction([[maybe_unused]] const void* context) noexcept {
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return static_cast<std::uintptr_t>(static_cast<const ucontext_t*>(context)->uc_mcontext.pc);
#else
  return 0;
#endif
}

}  // namespace backplane
