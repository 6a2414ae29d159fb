// The threads for callbacks of one plugin that may wait, and the restrictions of a callback on the current thread.
//
// Thread-safety: any thread.
// Lifetime:      that of the plugin; the host waits for running calls before it destroys the plugin.
// Errors:        an exception of the call is rethrown by the co_await.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <string>

#include "backplane/host.hpp"

namespace backplane::stable {

// Which kind of callback of a plugin the current thread runs. Callbacks of the kinds kLifecycle and kRequest must not wait for the server.
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
  // `name`: the prefix of the names of the executors. An executor is made when it is first used.
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

// Runs `work` on `thread`, and resumes on the caller's executor.
Task<void> run_on(Executor& thread, std::function<void()> work);

}  // namespace backplane::stable
