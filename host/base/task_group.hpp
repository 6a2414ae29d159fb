// The task group that the host uses: it logs an exception that leaves a task, with the stack of the throw.
//
// Thread-safety: as TaskGroup.
// Lifetime:      as TaskGroup.
// Errors:        none; exceptions of tasks are logged and do not end the process.
#pragma once

#include "backplane/core/task_group.hpp"

namespace backplane {

class LoggedTaskGroup final : public TaskGroup {
 public:
  LoggedTaskGroup();
};

}  // namespace backplane
