// Waiting within one executor: coroutines wait until open() is called; cheaper than a Promise because nothing crosses threads.
//
// Thread-safety: one executor.  Several may wait at once; a resumed waiter checks its condition again.
// Lifetime:      outlives its waiters.
#pragma once

#include <coroutine>
#include <utility>
#include <vector>

#include "backplane/core/task.hpp"

namespace backplane {

class Gate {
 public:
  bool waited_on() const noexcept { return !waiters_.empty(); }
  // Posts the resumption of all waiters.
  void open() {
    for (const Waiter& waiter : std::exchange(waiters_, {})) {
      if (waiter.executor != nullptr) {
        waiter.executor->post(waiter.frame);
      } else {
        waiter.frame.resume();
      }
    }
  }
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> frame) { waiters_.push_back({frame, current_executor()}); }
  void await_resume() const noexcept {}

 private:
  struct Waiter {
    std::coroutine_handle<> frame;
    Executor* executor;
  };
  std::vector<Waiter> waiters_;
};

}  // namespace backplane
