// How long threads wait for mutexes and read-write locks, by the stack that waits.
//
// The program reports the waits: it replaces pthread_mutex_lock() and its like (app/lock_interposer.cpp). Waits of condition variables do
// not count.
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

// Off until the first call; there is no way back.
void record_lock_waits() noexcept;
bool records_lock_waits() noexcept;

// The calling thread has waited. Takes 5 to 20 microseconds, most of them for the stack; a nested call, of a lock that the recording
// itself takes, does nothing.
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
