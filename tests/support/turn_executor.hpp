// For tests: an executor that runs work when the test requests it, and whose timers fire if no other work is queued.
//
// Thread-safety: one thread.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "backplane/core/logger.hpp"
#include "backplane/core/task.hpp"

namespace backplane::test {

class TurnExecutor final : public Executor {
 public:
  void post(std::function<void()> work) override { work_.push_back(std::move(work)); }
  void post(std::coroutine_handle<> frame) override {
    work_.push_back([frame] { frame.resume(); });
  }
  std::function<void()> after(std::chrono::nanoseconds delay, std::function<void()> work) override {
    auto timer = std::make_shared<std::function<void()>>(std::move(work));
    timers_.push_back(timer);
    delays.push_back(delay);
    return [timer] { *timer = nullptr; };
  }
  // Runs work until none is queued. `timers`: also fires the timers, one after the other.
  void run_until_idle(bool timers = false) {
    ExecutorScope scope(this);
    for (;;) {
      if (work_.empty() && timers && !timers_.empty()) {
        work_.push_back(std::exchange(*timers_.front(), nullptr));
        timers_.pop_front();
      }
      if (work_.empty()) return;
      auto next = std::move(work_.front());
      work_.pop_front();
      if (next) next();
    }
  }
  // Fires all timers that are armed when it is called.
  void fire_timers() {
    for (const auto& timer : std::exchange(timers_, {})) {
      if (*timer) work_.push_back(std::exchange(*timer, nullptr));
    }
    run_until_idle();
  }
  // Starts a task, and runs work until none is queued.
  void start(Task<void> task) {
    spawn_detached(*this, std::move(task));
    run_until_idle();
  }

  std::vector<std::chrono::nanoseconds> delays;  // the delays of all timers that have been armed

 private:
  std::deque<std::function<void()>> work_;
  std::deque<std::shared_ptr<std::function<void()>>> timers_;
};

class QuietLogger final : public Logger {
 public:
  void error(std::string_view text) override { lines.emplace_back(text); }
  void warn(std::string_view text) override {
    ++warnings;
    lines.emplace_back(text);
  }
  void info(std::string_view) override {}
  void debug(std::string_view text) override { lines.emplace_back(text); }
  std::vector<std::string> lines;
  int warnings = 0;
};

}  // namespace backplane::test
