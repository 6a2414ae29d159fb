// Objects of a plugin in another process, whose functions block until that process answers, and the threads that call them.
//
// A store asks its strategy for BlockingCalls and processes writes with offloaded(): the request waits for the process asynchronously, and
// its connection's loop serves other requests.
//
// Thread-safety: any thread.
// Lifetime:      the object outlives the task.
// Errors:        call_executor(): kServiceUnavailable if the process does not answer.
#pragma once

#include <exception>
#include <optional>
#include <utility>

#include "backplane/core/status.hpp"
#include "backplane/core/task.hpp"
#include "backplane/net/io_executor.hpp"
#include "base/origin_executor.hpp"

namespace backplane {

class BlockingCalls {
 public:
  virtual ~BlockingCalls() = default;
  // The executor for the next call; null: the functions do not block.
  virtual Result<Executor*> call_executor() const = 0;
};

// Whether the current executor serves one owner only, so that a call may block it.
inline bool on_blocking_executor() noexcept {
  Executor* const current = current_executor();
  IoExecutor* const io = current != nullptr ? current->io() : nullptr;
  return io == nullptr || io->may_block();
}

namespace detail {

template <class T>
Task<T> run_offloaded(Executor& executor, Task<T> work) {
  const OriginExecutor origin;
  std::optional<T> result;
  std::exception_ptr thrown;
  co_await resume_on(executor);
  try {
    result.emplace(co_await std::move(work));
  } catch (...) {
    thrown = std::current_exception();
  }
  co_await origin;
  if (thrown) std::rethrow_exception(thrown);
  co_return std::move(*result);
}

template <class T>
Task<T> refused(Status why) {
  co_return why;
}

}  // namespace detail

// Runs `work` on an executor of `calls`, and resumes the caller on its executor. Runs `work` here if `calls` is null, its functions do not
// block, or the current executor may block. T: a Result, which is the error of call_executor() if there is one.
template <class T>
Task<T> offloaded(const BlockingCalls* calls, Task<T> work) {
  if (calls == nullptr || on_blocking_executor()) return work;
  auto executor = calls->call_executor();
  if (!executor.ok()) return detail::refused<T>(std::move(executor.status()));
  if (*executor == nullptr) return work;
  return detail::run_offloaded(**executor, std::move(work));
}

}  // namespace backplane
