#include "base/free_memory.hpp"

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <mutex>
#include <utility>

#include "base/mapped_code.hpp"

namespace backplane {
namespace {

std::size_t resident_bytes() { return memory_use().resident_bytes; }

// The amount of free memory that is worth a release. malloc_trim() visits all heaps, so its duration grows with the size of the heaps.
std::size_t much(std::size_t resident) { return std::clamp<std::size_t>(resident / 32, 2 * 1024 * 1024, 8 * 1024 * 1024); }

}  // namespace

MemoryUse memory_use() {
  // Not read with a stream: its buffer and locale would take longer than the system call.
  std::array<char, 128> text{};
  const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  const ssize_t size = file < 0 ? 0 : read(file, text.data(), text.size());
  if (file >= 0) close(file);
  const char* const end = text.data() + std::max<ssize_t>(size, 0);
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  MemoryUse use;
  const auto first = std::from_chars(text.data(), end, use.virtual_bytes);
  if (first.ptr != end) std::from_chars(first.ptr + 1, end, use.resident_bytes);
  use.virtual_bytes *= page;
  use.resident_bytes *= page;
  return use;
}

struct FreeMemory::State : std::enable_shared_from_this<State> {
  State(Executor& timer_in, Executor& blocking_in, std::chrono::nanoseconds every)
      : timer(timer_in), blocking(blocking_in), interval(every) {}

  void arm() {
    const std::lock_guard lock(mutex);
    if (stopped) return;
    cancel = timer.after(interval, [state = shared_from_this()] {
      state->blocking.post([state] {
        if (!std::exchange(state->unmapped, true)) unmap_read_code();
        state->look();
        state->arm();
      });
    });
  }

  // The last call has released the memory that was free then. So memory can be released only if the heap has grown since, or if more memory
  // is free than then.
  bool look() {
    const std::size_t free = mallinfo2().fordblks;
    const std::size_t resident = resident_bytes();
    const std::size_t worth = much(resident);
    const bool grown = free >= worth && resident >= resident_then + worth / 2;
    if (!grown && free < free_then + worth) return false;
    malloc_trim(worth / 8);
    resident_then = resident_bytes();
    free_then = mallinfo2().fordblks;
    return true;
  }

  Executor& timer;
  Executor& blocking;
  const std::chrono::nanoseconds interval;
  std::size_t resident_then = 0;  // after the last release
  std::size_t free_then = 0;      // after the last release
  bool unmapped = false;          // unmap_read_code() has been called, at the first interval
  std::mutex mutex;
  bool stopped = false;
  std::function<void()> cancel;
};

FreeMemory::FreeMemory(Executor& timer, Executor& blocking, std::chrono::nanoseconds interval)
    : state_(std::make_shared<State>(timer, blocking, interval)) {}
FreeMemory::~FreeMemory() = default;

void FreeMemory::start() { state_->arm(); }

void FreeMemory::stop() {
  std::function<void()> cancel;
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopped = true;
    cancel.swap(state_->cancel);
  }
  if (cancel) cancel();
}

bool FreeMemory::look() { return state_->look(); }

}  // namespace backplane
