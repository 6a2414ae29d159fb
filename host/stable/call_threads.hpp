// The threads on which callbacks of one plugin run that may wait, and what a callback may do on the thread on which it runs.
//
// Thread-safety: any thread.
// Lifetime:      that of the plugin; a call that runs is awaited by the host when the plugin ends.
// Errors:        an exception of the call is rethrown by the co_await.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <string>

#include "backplane/host.hpp"

namespace backplane::stable {

// Where this thread is while a callback runs.
enum class CallPlace : unsigned char { kOther, kLifecycle, kRequest, kWaiting };
CallPlace call_place() noexcept;
class CallScope {
 public:
  explicit CallScope(CallPlace place) noexcept;
  ~CallScope();
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

 private:
  CallPlace before_;
};

class CallThreads {
 public:
  // `name`: of the threads' executors, which are made when they are first used.
  explicit CallThreads(Host& host, std::string name = "call") : host_(host), name_(std::move(name)) {}
  // Runs `work` on the thread that has the fewest calls.
  Task<void> run(std::function<void()> work);
  // The executor of the next thread, round robin.
  Executor& next();

 private:
  static constexpr std::size_t kThreads = 4;
  Executor& executor_of(std::size_t thread);

  Host& host_;
  const std::string name_;
  std::atomic<std::size_t> turn_{0};
  std::array<std::atomic<int>, kThreads> calls_{};
};

// Runs `work` on `thread` and comes back.
Task<void> run_on(Executor& thread, std::function<void()> work);

}  // namespace backplane::stable
