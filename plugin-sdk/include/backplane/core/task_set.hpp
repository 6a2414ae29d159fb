// Several tasks at once: when_all(), and a time limit for one task.
//
// Thread-safety: called on an executor; the tasks run there, interleaved with each other.
// Lifetime:      within(): a task that has run out of time goes on to its end without a listener, so it must own what it uses.
// Errors:        when_all(): the exception of the first task, in order, that threw one, after all have ended.
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

template <class T>
struct Gathered {
  std::vector<std::optional<T>> results;
  std::vector<std::exception_ptr> errors;
  std::size_t left = 0;
  Promise<bool> done = {};
};

template <class T>
Task<void> gather(std::shared_ptr<Gathered<T>> all, std::size_t index, Task<T> task) {
  try {
    all->results[index].emplace(co_await std::move(task));
  } catch (...) {
    all->errors[index] = std::current_exception();
  }
}

template <class T>
Task<void> race(std::shared_ptr<std::optional<T>> result, std::shared_ptr<std::exception_ptr> error, Task<T> task) {
  try {
    result->emplace(co_await std::move(task));
  } catch (...) {
    *error = std::current_exception();
  }
}

}  // namespace detail

// Starts all tasks on the current executor and resumes when the last one has ended.  Results are in the order of the tasks.
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

// The task's result; nothing if `limit` has passed before.
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
