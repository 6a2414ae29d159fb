// Where a long piece of work stops for a moment: others of its executor go first.
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
