// How long threads wait for mutexes and read-write locks, by the stack that waits.
//
// The program reports the waits: it replaces pthread_mutex_lock() and the read-write locks (app/lock_interposer.cpp).
// Waits of condition variables do not count.
// Thread-safety: any thread.
// Lifetime:      the process; the waits add up since record_lock_waits().
// Errors:        none. Waits of stacks past the first kMostStacks are added up without a stack.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>

#include "profiling/profile.hpp"

namespace backplane::profiling {

inline constexpr std::size_t kMostStacks = 10'000;

// Recording is off until the first call, and cannot be switched off.
void record_lock_waits() noexcept;
bool records_lock_waits() noexcept;

// Adds a wait of the calling thread, with its stack. A nested call, for a lock that the recording itself takes, has no effect.
void note_lock_wait(std::chrono::nanoseconds wait) noexcept;

struct LockWaits {
  std::int64_t count = 0;
  std::chrono::nanoseconds total{};
};
// By the stack that has waited; an empty one for those past kMostStacks.
std::map<Stack, LockWaits> lock_waits();
// Sample types {contentions, count} and {delay, nanoseconds}, as Go's.
Profile lock_wait_profile();

}  // namespace backplane::profiling
