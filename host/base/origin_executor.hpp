// The executor on which a coroutine began: `co_await home` brings it back there, wherever the calls in between have ended.  For what a
// plugin is called from and goes on with what belongs to one executor: an exchange, a timer.
//
// Thread-safety: immutable.
// Lifetime:      the executor outlives it.
// Errors:        none; begun on no executor, it stays where it is.
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
