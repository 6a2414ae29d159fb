// An alternate stack for the signal handlers of a thread, so that a stack overflow can be reported.
//
// Thread-safety: constructed and destroyed on the thread that it serves.
// Errors:        none; if there is no memory, the thread keeps its former alternate stack.
#pragma once

#include <sys/mman.h>

#include <csignal>
#include <cstddef>

namespace backplane {

class SignalStack {
 public:
  SignalStack() noexcept {
    void* memory = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED) return;
    memory_ = memory;
    stack_t stack{};
    stack.ss_sp = memory_;
    stack.ss_size = kSize;
    sigaltstack(&stack, nullptr);
  }
  ~SignalStack() {
    if (memory_ == nullptr) return;
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
    munmap(memory_, kSize);
  }
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  static constexpr std::size_t kSize = 128 * 1024;
  void* memory_ = nullptr;
};

}  // namespace backplane
