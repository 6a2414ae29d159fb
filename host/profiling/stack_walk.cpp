#include "profiling/stack_walk.hpp"

#include <ucontext.h>
#include <unwind.h>

#include <array>
#include <csetjmp>
#include <csignal>
#include <mutex>

#include "base/interrupted_instruction.hpp"

namespace backplane::profiling {
namespace {

// The state of a walk. In a signal handler, the frames before `first`, the interrupted instruction, belong to the handler and are omitted.
struct Walk {
  std::uintptr_t first;
  std::uintptr_t* out;
  volatile std::size_t count = 0;  // survives a longjmp
  int skipped = 0;                 // the number of frames that note_own_frame() omits
};

_Unwind_Reason_Code note_frame(_Unwind_Context* context, void* data) {
  auto& walk = *static_cast<Walk*>(data);
  const auto address = static_cast<std::uintptr_t>(_Unwind_GetIP(context));
  if (address == 0 || walk.count == kMostFrames) return _URC_END_OF_STACK;
  if (walk.count == 0 && address != walk.first) return _URC_NO_REASON;
  walk.out[walk.count] = address;
  walk.count = walk.count + 1;
  return _URC_NO_REASON;
}

_Unwind_Reason_Code end_walk(_Unwind_Context*, void*) { return _URC_END_OF_STACK; }

_Unwind_Reason_Code note_own_frame(_Unwind_Context* context, void* data) {
  auto& walk = *static_cast<Walk*>(data);
  const auto address = static_cast<std::uintptr_t>(_Unwind_GetIP(context));
  if (address == 0 || walk.count == kMostFrames) return _URC_END_OF_STACK;
  if (walk.skipped > 0) {
    --walk.skipped;
  } else {
    walk.out[walk.count] = address;
    walk.count = walk.count + 1;
  }
  return _URC_NO_REASON;
}

thread_local sigjmp_buf* t_walk_end = nullptr;

struct FaultSignal {
  int number;
  struct sigaction former;
};
std::array<FaultSignal, 2> g_fault_signals{{{SIGSEGV, {}}, {SIGBUS, {}}}};
std::mutex g_guards_mutex;
int g_guards = 0;

// Ends a walk. For a fault outside of walks, restores the former handler and returns; the instruction faults again, and the former handler
// runs.
void on_walk_fault(int number, siginfo_t* info, void*) {
  if (t_walk_end != nullptr) siglongjmp(*t_walk_end, 1);
  for (const auto& signal : g_fault_signals) {
    if (signal.number == number) sigaction(number, &signal.former, nullptr);
  }
  if (info->si_code <= 0) raise(number);  // a process has sent the signal, so it does not occur again
}

}  // namespace

std::size_t walk_interrupted_stack(const void* context, std::uintptr_t* out) noexcept {
  Walk walk{interrupted_instruction(context), out};
  sigjmp_buf end;
  if (sigsetjmp(end, 1) == 0) {
    t_walk_end = &end;
    _Unwind_Backtrace(note_frame, &walk);
  }
  t_walk_end = nullptr;
  if (walk.count == 0 && walk.first != 0) {
    out[0] = walk.first;
    walk.count = 1;
  }
  return walk.count;
}

__attribute__((noinline)) std::size_t walk_own_stack(std::uintptr_t* out) noexcept {
  Walk walk{0, out};
  walk.skipped = 2;  // this function and its caller
  _Unwind_Backtrace(note_own_frame, &walk);
  return walk.count;
}

StackWalkGuard::StackWalkGuard() {
  const std::lock_guard lock(g_guards_mutex);
  if (g_guards++ > 0) return;
  _Unwind_Backtrace(end_walk, nullptr);  // the first call initializes tables, which must not happen in a signal handler
  struct sigaction action {};
  action.sa_sigaction = on_walk_fault;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (auto& signal : g_fault_signals) sigaction(signal.number, &action, &signal.former);
}

StackWalkGuard::~StackWalkGuard() {
  const std::lock_guard lock(g_guards_mutex);
  if (--g_guards > 0) return;
  for (const auto& signal : g_fault_signals) sigaction(signal.number, &signal.former, nullptr);
}

}  // namespace backplane::profiling
