// Records how long threads wait for mutexes and read-write locks, and the stacks of the waiting threads.
//
// The server reports each wait with note_lock_wait(): it replaces pthread_mutex_lock() and the functions of read-write locks
// (app/lock_interposer.cpp). Waits for condition variables are not recorded.
//
// Thread-safety: any thread.
// Lifetime:      the data is never reset; it covers the time since record_lock_waits().
// Errors:        none. If there are more than kMostStacks stacks, the waits of further ones are added up without a stack.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>

#include "profiling/profile.hpp"

namespace backplane::profiling {

inline constexpr std::size_t kMostStacks = 10'000;

// Starts the recording, which cannot be switched off.
void record_lock_waits() noexcept;
bool records_lock_waits() noexcept;

// Records a wait of the calling thread, with the thread's stack. Has no effect for locks that the recording itself uses.
void note_lock_wait(std::chrono::nanoseconds wait) noexcept;

struct LockWaits {
  std::int64_t count = 0;
  std::chrono::nanoseconds total{};
};
// The stack of the waiting thread → the waits; the empty stack has the waits of all stacks beyond kMostStacks.
std::map<Stack, LockWaits> lock_waits();
// The waits as a profile with the sample types {contentions, count} and {delay, nanoseconds}, as in Go.
Profile lock_wait_profile();

}  // namespace backplane::profiling
