// The executor on which a coroutine began. `co_await origin` resumes the coroutine there, regardless of where the calls in between ended.
// Code that calls plugins uses it before it touches objects of one executor again (an exchange, a timer).
//
// Thread-safety: immutable.
// Lifetime:      the executor outlives it.
// Errors:        none; without an executor at construction, co_await does nothing.
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
