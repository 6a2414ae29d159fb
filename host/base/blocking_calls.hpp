// Calls of objects whose functions block, because a plugin in another process implements them. BlockingCalls selects the thread for such a
// call.
//
// A store asks its strategy for BlockingCalls and processes writes with offloaded(): the request waits for the other process
// asynchronously, and the connection's loop serves other requests meanwhile.
//
// Thread-safety: any thread.
// Lifetime:      the BlockingCalls outlives the task of offloaded().
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

// True if a call may block the calling thread: it has no executor, or its executor allows that (IoExecutor::may_block()).
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

// Runs `work` on the executor that `calls` returns, and resumes the caller on the caller's executor. Runs `work` on the current executor if
// `calls` is null, if its functions do not block, or if the current executor may block. T is a Result; if call_executor() fails, the result
// is its error.
template <class T>
Task<T> offloaded(const BlockingCalls* calls, Task<T> work) {
  if (calls == nullptr || on_blocking_executor()) return work;
  auto executor = calls->call_executor();
  if (!executor.ok()) return detail::refused<T>(std::move(executor.status()));
  if (*executor == nullptr) return work;
  return detail::run_offloaded(**executor, std::move(work));
}

}  // namespace backplane
