// The allocator of coroutine frames. Each thread has one free list for each size of blocks.
//
// Thread-safety: a block may be released on a different thread than that on which it was allocated; it is then added to the list of the
//                releasing thread.
// Lifetime:      a thread frees the blocks in its lists when it ends.
#include <array>
#include <cstddef>
#include <new>
#include <utility>

#include "backplane/core/task.hpp"

namespace backplane BACKPLANE_API {
namespace {

// With a sanitizer, every frame is allocated and freed separately, so that the sanitizer detects errors.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kKeeps = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kKeeps = false;
#else
constexpr bool kKeeps = true;
#endif
#else
constexpr bool kKeeps = true;
#endif

constexpr std::size_t kStep = 64, kLargest = 1024;
constexpr std::size_t kMostBytes = 64 << 10;  // of the blocks of one size in one thread

struct Block {
  Block* next;
};
struct Kept {
  Block* first;
  std::size_t count;
};
using AllKept = std::array<Kept, kLargest / kStep>;

thread_local AllKept t_kept{};
thread_local bool t_ended = false;

struct AtEnd {
  AtEnd() = default;
  AtEnd(const AtEnd&) = delete;
  AtEnd& operator=(const AtEnd&) = delete;
  ~AtEnd() {
    t_ended = true;
    for (Kept& kept : t_kept) {
      while (kept.first != nullptr) ::operator delete(std::exchange(kept.first, kept.first->next));
      kept.count = 0;
    }
  }
  bool registered = false;
};
thread_local AtEnd t_at_end;

constexpr std::size_t step_of(std::size_t size) noexcept { return (size - 1) / kStep; }
constexpr std::size_t size_of(std::size_t step) noexcept { return (step + 1) * kStep; }

}  // namespace

namespace detail {

void* take_frame(std::size_t size) {
  if (!kKeeps || size > kLargest) return ::operator new(size);
  const std::size_t step = step_of(size);
  Kept& kept = t_kept[step];
  if (kept.first == nullptr) return ::operator new(size_of(step));
  --kept.count;
  return std::exchange(kept.first, kept.first->next);
}

void give_frame_back(void* frame, std::size_t size) noexcept {
  const std::size_t step = step_of(size);
  const bool keeps = kKeeps && size <= kLargest && !t_ended && t_kept[step].count < kMostBytes / size_of(step);
  if (!keeps) return ::operator delete(frame);
  Kept& kept = t_kept[step];
  if (kept.first == nullptr) t_at_end.registered = true;
  kept.first = new (frame) Block{kept.first};
  ++kept.count;
}

}  // namespace detail

}  // namespace BACKPLANE_API
