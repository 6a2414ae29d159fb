#include "base/task_group.hpp"

#include "base/caught.hpp"
#include "base/log.hpp"

namespace backplane {
namespace {

void log_exception(std::string_view task) {
  const Caught thrown = caught();
  base_log().error("a background task failed task={} error={}{}", task, thrown.what, thrown.stack);
}

}  // namespace

LoggedTaskGroup::LoggedTaskGroup() : TaskGroup(log_exception) {}

}  // namespace backplane
