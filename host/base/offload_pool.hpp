// The pool of threads that processes requests with large bodies, so that such a request does not delay others on its connection's loop.
// A coroutine switches to it with `co_await OffloadIfLarge(bytes)`, and back with its OriginExecutor.
//
// Thread-safety: any thread.
// Lifetime:      each server of a process has a separate pool. Stop it after the loops whose requests use it; call
// set_offload_pool(nullptr)
//                before it is destroyed.
// Errors:        none; if there is no pool, or `bytes` is small, the coroutine stays on its executor.
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
  std::size_t size() const noexcept { return loops_.size(); }
  // The number of offloaded coroutines.
  std::size_t turns() const noexcept { return turn_.load(std::memory_order_relaxed); }
  // The next loop, round robin.
  Executor& next() noexcept { return *loops_[turn_.fetch_add(1, std::memory_order_relaxed) % loops_.size()]; }

 private:
  std::vector<std::unique_ptr<IoLoop>> loops_;
  std::atomic<std::size_t> turn_{0};
};

// Sets the pool that OffloadIfLarge uses for the calling thread's server; null: none. To be called before the server accepts requests.
void set_offload_pool(OffloadPool* loops) noexcept;

class OffloadIfLarge {
 public:
  // Bodies up to this size are processed in a few milliseconds, so they are not offloaded.
  static constexpr std::size_t kSmallBytes = std::size_t{128} << 10;

  explicit OffloadIfLarge(std::size_t bytes) noexcept;
  bool await_ready() const noexcept { return executor_ == nullptr; }
  void await_suspend(std::coroutine_handle<> frame) const { executor_->post(frame); }
  void await_resume() const noexcept {}

 private:
  Executor* executor_;
};

}  // namespace backplane
