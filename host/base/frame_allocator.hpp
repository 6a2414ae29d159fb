// An allocator for objects of one request: it reuses memory from the thread's cache of coroutine frames.
//
// Thread-safety: any thread.
#pragma once

#include <cstddef>

#include "backplane/core/task.hpp"

namespace backplane {

template <class T>
struct FrameAllocator {
  using value_type = T;
  FrameAllocator() noexcept = default;
  template <class U>
  FrameAllocator(const FrameAllocator<U>&) noexcept {}
  T* allocate(std::size_t count) { return static_cast<T*>(detail::take_frame(count * sizeof(T))); }
  void deallocate(T* at, std::size_t count) noexcept { detail::give_frame_back(at, count * sizeof(T)); }
  friend bool operator==(const FrameAllocator&, const FrameAllocator&) noexcept { return true; }
};

}  // namespace backplane
