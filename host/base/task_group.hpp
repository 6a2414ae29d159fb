// The host's task groups: an exception that leaves a task is logged with its stack.
//
// Thread-safety: as TaskGroup.
// Lifetime:      as TaskGroup.
// Errors:        logged; no exception ends the process.
#pragma once

#include "backplane/core/task_group.hpp"

namespace backplane {

class LoggedTaskGroup final : public TaskGroup {
 public:
  LoggedTaskGroup();
};

}  // namespace backplane
