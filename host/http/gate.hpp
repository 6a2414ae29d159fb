// A coroutine that awaits a Gate waits until open() is called. A Gate is cheaper than a Promise because it is used on one executor only.
//
// Thread-safety: one executor. Several coroutines may wait at the same time. A coroutine must check its condition again after it has
//                resumed.
// Lifetime:      the Gate outlives the coroutines that wait for it.
#pragma once

#include <coroutine>
#include <utility>
#include <vector>

#include "backplane/core/task.hpp"

namespace backplane {

class Gate {
 public:
  bool waited_on() const noexcept { return !waiters_.empty(); }
  // Posts the resumption of all waiting coroutines.
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
