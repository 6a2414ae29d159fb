#include "profiling/lock_waits.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <new>

#include "profiling/stack_walk.hpp"

namespace backplane::profiling {
namespace {

std::atomic<bool> g_records{false};
thread_local bool t_recording = false;

struct Waits {
  std::mutex mutex;
  std::map<Stack, LockWaits> by_stack;
};
// The object is never destroyed, because threads that outlive main() may wait for locks.
Waits& waits() {
  static Waits& all = *new Waits;
  return all;
}

// While an object of this class exists, waits of this thread are not recorded.
class Recording {
 public:
  Recording() noexcept { t_recording = true; }
  ~Recording() { t_recording = false; }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
};

}  // namespace

void record_lock_waits() noexcept { g_records.store(true, std::memory_order_relaxed); }
bool records_lock_waits() noexcept { return g_records.load(std::memory_order_relaxed); }

void note_lock_wait(std::chrono::nanoseconds wait) noexcept {
  if (t_recording || !records_lock_waits()) return;
  const Recording recording;
  try {
    std::uintptr_t frames[kMostFrames];
    Stack stack(frames, frames + walk_own_stack(frames));
    Waits& all = waits();
    const std::lock_guard lock(all.mutex);
    if (all.by_stack.size() >= kMostStacks && !all.by_stack.contains(stack)) stack.clear();
    LockWaits& sum = all.by_stack[std::move(stack)];
    ++sum.count;
    sum.total += wait;
  } catch (const std::bad_alloc&) {
    // No memory: this wait is not recorded.
  }
}

std::map<Stack, LockWaits> lock_waits() {
  const Recording recording;
  Waits& all = waits();
  const std::lock_guard lock(all.mutex);
  return all.by_stack;
}

Profile lock_wait_profile() {
  Profile profile({{"contentions", "count"}, {"delay", "nanoseconds"}});
  if (!records_lock_waits()) profile.set_comment("Waits for locks are recorded with --contention-profiling only.");
  for (const auto& [stack, waits] : lock_waits()) profile.add_stack(stack, {waits.count, waits.total.count()});
  return profile;
}

}  // namespace backplane::profiling
