// Where requests with large bodies are worked on: loops of their own, so that a body of a million items holds up nobody but its like.
// A coroutine goes there with `co_await OffloadIfLarge(bytes)`, and comes back with its OriginExecutor.
//
// Thread-safety: any thread.
// Lifetime:      the loops are stopped after those whose requests go there; set_offload_pool(nullptr) goes before they do.
// Errors:        none; where there are no such loops, or few bytes, it stays where it is.
#pragma once

#include <atomic>
#include <coroutine>
#include <cstddef>
#include <memory>
#include <vector>

#include "base/io_loop.hpp"

namespace backplane {

class OffloadPool {
 public:
  explicit OffloadPool(std::size_t count);
  void start();
  void stop();
  // One after the other.
  Executor& next() noexcept { return *loops_[turn_.fetch_add(1, std::memory_order_relaxed) % loops_.size()]; }

 private:
  std::vector<std::unique_ptr<IoLoop>> loops_;
  std::atomic<std::size_t> turn_{0};
};

// Once, before anything is served; null takes them back.
void set_offload_pool(OffloadPool* loops) noexcept;

class OffloadIfLarge {
 public:
  // What fits into this is done in a few milliseconds, whatever it says.
  static constexpr std::size_t kSmallBytes = std::size_t{128} << 10;

  explicit OffloadIfLarge(std::size_t bytes) noexcept;
  bool await_ready() const noexcept { return executor_ == nullptr; }
  void await_suspend(std::coroutine_handle<> frame) const { executor_->post(frame); }
  void await_resume() const noexcept {}

 private:
  Executor* executor_;
};

}  // namespace backplane
