// A group of tasks for which their owner waits. A coroutine that no other coroutine awaits belongs to a group. To stop, the owner fires the
// stop signal of the tasks, calls close(), and awaits wait_all().
//
// Thread-safety: every method from any thread.
// Lifetime:      the owner awaits wait_all() before it destroys the group.
// Errors:        an exception that leaves a task ends that task; the group's error callback receives it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "backplane/core/logger.hpp"
#include "backplane/core/task.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// The tasks of one owner, such as a plugin or a controller.
//
//   TaskGroup tasks(host.logger());
//   tasks.spawn(host.executor(), "resync", resync());
//   …
//   stop.fire();                 // the signal at which resync() ends
//   tasks.close();               // spawn() refuses new tasks
//   co_await tasks.wait_all();
class TaskGroup {
 public:
  // Called on the executor of a task that has thrown, with the name of the task. It is called inside the catch block, so `throw;` rethrows
  // the exception. Must not throw.
  using OnError = std::function<void(std::string_view task)>;

  explicit TaskGroup(OnError on_error);
  // Logs the exceptions of tasks. `logger` must outlive the tasks.
  explicit TaskGroup(Logger& logger);
  ~TaskGroup();
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;

  // Starts `task` on `executor`. After close(), it returns false and destroys the task without starting it. `name` is for error messages.
  bool spawn(Executor& executor, std::string name, Task<void> task);
  // Makes spawn() refuse new tasks. Does not stop running tasks: the owner fires their stop signal. Idempotent.
  void close();
  // The number of tasks that have not ended, for status pages.
  std::size_t running() const;
  // Resumes when no task is running. Call close() first; otherwise a task that starts later is not awaited.
  Task<void> wait_all();

 private:
  struct State;
  const std::shared_ptr<State> state_;
};

}  // namespace BACKPLANE_API
