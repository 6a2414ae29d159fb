// Tasks that somebody waits for: every coroutine of the host belongs to a group, and stop() is: refuse new, wait for all.
//
// Thread-safety: spawn() and wait_all() from any thread.
// Lifetime:      wait_all() has returned before the group goes away.
// Errors:        an exception that leaves a task is logged as an error; it does not end the process.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "backplane/core/task.hpp"

namespace backplane {

class TaskGroup {
 public:
  TaskGroup();
  ~TaskGroup();
  // Starts `task` on `executor`; false (and the task is dropped unstarted) once the group is closed.
  bool spawn(Executor& executor, std::string name, Task<void> task);
  void close();
  std::size_t running() const;
  // Resumes when no task runs; call close() first.
  Task<void> wait_all();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace backplane
