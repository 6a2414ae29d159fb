// Combines tasks: when_all() runs several at once, within() limits the time of one.
//
// Thread-safety: called on an executor, on which the tasks run interleaved.
// Lifetime:      a task that exceeds the limit of within() runs on to its end and its result is dropped: it must own everything it uses.
// Errors:        when_all() rethrows the exception of the first task, in argument order, that threw one, after all tasks have ended.
//                within() rethrows the exception of the task, if it ends in time.
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "backplane/core/task.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

namespace detail {

// State shared by the tasks of one when_all().
template <class T>
struct Gathered {
  std::vector<std::optional<T>> results;
  std::vector<std::exception_ptr> errors;
  std::size_t left = 0;
  Promise<bool> done = {};
};

// Stores the result or the exception of one task.
template <class T>
Task<void> gather(std::shared_ptr<Gathered<T>> all, std::size_t index, Task<T> task) {
  try {
    all->results[index].emplace(co_await std::move(task));
  } catch (...) {
    all->errors[index] = std::current_exception();
  }
}

// The same for the single task of within().
template <class T>
Task<void> race(std::shared_ptr<std::optional<T>> result, std::shared_ptr<std::exception_ptr> error, Task<T> task) {
  try {
    result->emplace(co_await std::move(task));
  } catch (...) {
    *error = std::current_exception();
  }
}

}  // namespace detail

// Starts all tasks on the current executor and resumes the caller when the last one has ended. Results are in the order of `tasks`.
// Precondition: the caller runs on an executor.
//
//   std::vector<Task<Result<Object>>> calls;
//   for (const std::string& name : names) calls.push_back(api.get(kMaps, "default", name));
//   const std::vector<Result<Object>> objects = co_await when_all(std::move(calls));
template <class T>
Task<std::vector<T>> when_all(std::vector<Task<T>> tasks) {
  std::vector<T> out;
  if (tasks.empty()) co_return out;
  auto all = std::make_shared<detail::Gathered<T>>();
  all->results.resize(tasks.size());
  all->errors.resize(tasks.size());
  all->left = tasks.size();
  Executor& executor = *current_executor();
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    spawn_detached(executor, detail::gather(all, i, std::move(tasks[i])), [all, &executor] {
      executor.post([all] {
        if (--all->left == 0) all->done.set(true);
      });
    });
  }
  (void)co_await all->done.future();
  for (const std::exception_ptr& error : all->errors) {
    if (error) std::rethrow_exception(error);
  }
  out.reserve(all->results.size());
  for (std::optional<T>& result : all->results) out.push_back(std::move(*result));
  co_return out;
}

// The result of `task`; nullopt if it has not ended within `limit`. The task is not cancelled.
// Precondition: the caller runs on an executor.
//
//   const auto answer = co_await within(std::chrono::seconds(5), call(shared_client));
//   if (!answer) co_return timeout("no response within 5 s", 1);
template <class T>
Task<std::optional<T>> within(std::chrono::nanoseconds limit, Task<T> task) {
  auto result = std::make_shared<std::optional<T>>();
  auto error = std::make_shared<std::exception_ptr>();
  Promise<bool> ended;
  Executor& executor = *current_executor();
  const auto cancel = executor.after(limit, [ended] { ended.set(false); });
  spawn_detached(executor, detail::race(result, error, std::move(task)), [ended] { ended.set(true); });
  const bool in_time = co_await ended.future();
  cancel();
  if (!in_time) co_return std::nullopt;
  if (*error) std::rethrow_exception(*error);
  co_return std::move(*result);
}

}  // namespace BACKPLANE_API
