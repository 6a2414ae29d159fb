// co_await Yield{} suspends a long-running coroutine until the work that is queued on the current executor has run.
//
// Thread-safety: the coroutine resumes on the current executor; without one it does not suspend.
#pragma once

#include <coroutine>

#include "backplane/core/task.hpp"

namespace backplane {

struct Yield {
  bool await_ready() const noexcept { return current_executor() == nullptr; }
  void await_suspend(std::coroutine_handle<> frame) const { current_executor()->post(frame); }
  void await_resume() const noexcept {}
};

}  // namespace backplane
