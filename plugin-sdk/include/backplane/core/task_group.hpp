// Tasks that an owner waits for: every coroutine that is not awaited belongs to a group, and stop() is: close(), then wait_all().
//
// Thread-safety: every method from any thread.
// Lifetime:      wait_all() has returned before the group is destroyed.
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

class TaskGroup {
 public:
  // Called while the exception is being handled: `throw;` rethrows it.  On the executor of the task; must not throw.
  using OnError = std::function<void(std::string_view task)>;

  explicit TaskGroup(OnError on_error);
  // Logs errors.  `logger` outlives the tasks.
  explicit TaskGroup(Logger& logger);
  ~TaskGroup();
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;

  // Starts `task` on `executor`; false, and the task is destroyed without having started, once the group is closed.
  bool spawn(Executor& executor, std::string name, Task<void> task);
  void close();
  std::size_t running() const;
  // Resumes when no task runs; call close() first.
  Task<void> wait_all();

 private:
  struct State;
  const std::shared_ptr<State> state_;
};

}  // namespace BACKPLANE_API
