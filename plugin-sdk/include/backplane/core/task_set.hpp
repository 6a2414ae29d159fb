// Combines tasks: when_all() runs several at once, within() limits the time of one.
//
// Thread-safety: when_all() and within() are called on an executor, and the tasks run interleaved on that executor.
// Lifetime:      a task that exceeds the limit of within() continues to its end, and its result is dropped; it must own everything that it
//                uses.
// Errors:        if tasks of when_all() throw, when_all() rethrows the exception of the first of them in the order of the arguments, after
//                all tasks have ended. within() rethrows the exception of its task if the task ends in time.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "backplane/core/task.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

namespace detail {

// Counts the tasks of one when_all() that have ended. Each task writes only its own element of `errors`. The last task sets `done`, which
// makes the elements visible to the caller.
struct Gathering {
  // `count`: the number of tasks.
  explicit Gathering(std::size_t count) : errors(count), left(count) {}
  // Called once for each task, after the task has written its element.
  void one_has_ended() {
    if (left.fetch_sub(1, std::memory_order_acq_rel) == 1) done.set(true);
  }
  // Called after `done` is set.
  void rethrow_first() const {
    for (const std::exception_ptr& error : errors) {
      if (error) std::rethrow_exception(error);
    }
  }

  std::vector<std::exception_ptr> errors;
  std::atomic<std::size_t> left;
  Promise<bool> done;
};

// Stores the exception of `task`, if it throws one.
Task<void> run_noting_error(Task<void> task, std::exception_ptr& error);

// Stores the value of `task`. `result` stays empty if the task throws.
template <class T>
Task<void> run_into(std::optional<T>& result, Task<T> task) {
  result.emplace(co_await std::move(task));
}

// Shared by within() and its task, because the task may outlive within().
template <class T>
struct Race {
  std::optional<T> result;
  std::exception_ptr error;
};

// Runs the task of within() and stores its value or its exception.
template <class T>
Task<void> race(std::shared_ptr<Race<T>> race, Task<T> task) {
  auto running = run_into(race->result, std::move(task));
  auto noting = run_noting_error(std::move(running), race->error);
  co_await std::move(noting);
}

}  // namespace detail

// Starts all tasks on the current executor and resumes the caller when the last one has ended.
// Precondition: the caller runs on an executor.
Task<void> when_all(std::vector<Task<void>> tasks);

// Like the function above, for tasks with results. The results are in the order of `tasks`.
//
//   std::vector<Task<Result<Object>>> calls;
//   for (const std::string& name : names) calls.push_back(api.get(kMaps, "default", name));
//   const std::vector<Result<Object>> objects = co_await when_all(std::move(calls));
template <class T>
Task<std::vector<T>> when_all(std::vector<Task<T>> tasks) {
  std::vector<std::optional<T>> results(tasks.size());
  std::vector<Task<void>> running;
  running.reserve(tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) running.push_back(detail::run_into(results[i], std::move(tasks[i])));
  auto waiting = when_all(std::move(running));
  co_await std::move(waiting);
  std::vector<T> out;
  out.reserve(results.size());
  for (std::optional<T>& result : results) out.push_back(std::move(*result));
  co_return out;
}

// Returns the result of `task`; nullopt if the task has not ended within `limit`. The task is not cancelled.
// Precondition: the caller runs on an executor.
//
//   const auto answer = co_await within(std::chrono::seconds(5), call(shared_client));
//   if (!answer) co_return timeout("no response within 5 s", 1);
template <class T>
Task<std::optional<T>> within(std::chrono::nanoseconds limit, Task<T> task) {
  const auto race = std::make_shared<detail::Race<T>>();
  Promise<bool> ended;
  Executor& executor = *current_executor();
  const auto cancel = executor.after(limit, [ended] { ended.set(false); });
  spawn_detached(executor, detail::race(race, std::move(task)), [ended] { ended.set(true); });
  const bool in_time = co_await ended.future();
  cancel();
  if (!in_time) co_return std::nullopt;
  if (race->error) std::rethrow_exception(race->error);
  co_return std::move(race->result);
}

// Returns the value of `promise`. If the value is not set within `limit`, within() sets it to `late`, so a later set() returns false. On a
// thread without an executor there is no limit.
template <class T>
Task<T> within(std::chrono::nanoseconds limit, Promise<T> promise, T late = T()) {
  std::function<void()> cancel;
  if (Executor* const executor = current_executor()) {
    cancel = executor->after(limit, [promise, late = std::move(late)] { promise.set(late); });
  }
  T value = co_await promise.future();
  if (cancel) cancel();
  co_return value;
}

}  // namespace BACKPLANE_API
