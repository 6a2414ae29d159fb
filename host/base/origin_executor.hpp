// Stores the current executor. A later `co_await origin` resumes the coroutine on that executor, even if a call in between has ended on
// another one. Code that calls plugins uses it before it accesses objects that belong to one executor (an exchange, a timer).
//
// Thread-safety: immutable.
// Lifetime:      the executor outlives it.
// Errors:        none; if there was no current executor at construction, co_await does nothing.
#pragma once

#include <coroutine>

#include "backplane/core/task.hpp"

namespace backplane {

class OriginExecutor {
 public:
  OriginExecutor() noexcept : executor_(current_executor()) {}
  bool await_ready() const noexcept { return executor_ == nullptr || current_executor() == executor_; }
  void await_suspend(std::coroutine_handle<> frame) const { executor_->post(frame); }
  void await_resume() const noexcept {}
  Executor* executor() const noexcept { return executor_; }

 private:
  Executor* const executor_;
};

}  // namespace backplane
