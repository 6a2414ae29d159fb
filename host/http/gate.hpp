// Waiting within one executor: a coroutine waits until open() is called; cheaper than a Promise because nothing crosses threads.
//
// Thread-safety: one executor; at most one waiter at a time.
// Lifetime:      outlives its waiter.
#pragma once

#include <coroutine>
#include <utility>

#include "backplane/task.hpp"

namespace backplane {

class Gate {
 public:
  bool waited_on() const noexcept { return static_cast<bool>(waiter_); }
  // Resumes the waiter soon; nothing when nobody waits.
  void open() {
    if (!waiter_) return;
    auto frame = std::exchange(waiter_, {});
    if (executor_ != nullptr) {
      executor_->post(frame);
    } else {
      frame.resume();
    }
  }
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> frame) noexcept {
    waiter_ = frame;
    executor_ = current_executor();
  }
  void await_resume() const noexcept {}

 private:
  std::coroutine_handle<> waiter_;
  Executor* executor_ = nullptr;
};

}  // namespace backplane
