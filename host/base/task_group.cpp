#include "base/task_group.hpp"

#include <vector>

#include "base/fenced.hpp"
#include "base/log.hpp"

namespace backplane {

struct TaskGroup::State {
  std::mutex mutex;
  std::size_t running = 0;
  bool closed = false;
  std::vector<Promise<bool>> waiters;

  void leave() {
    std::vector<Promise<bool>> told;
    {
      std::lock_guard lock(mutex);
      if (--running == 0) told.swap(waiters);
    }
    for (auto& waiter : told) waiter.set(true);
  }
};

namespace {
void report(const std::string& name, const Caught& thrown) {
  base_log().error("a background task failed task={} error={}{}", name, thrown.what, thrown.stack);
}
}  // namespace

TaskGroup::TaskGroup() : state_(std::make_shared<State>()) {}
TaskGroup::~TaskGroup() = default;

bool TaskGroup::spawn(Executor& executor, std::string name, Task<void> task) {
  {
    std::lock_guard lock(state_->mutex);
    if (state_->closed) return false;
    ++state_->running;
  }
  auto root = fenced_root(std::move(task), [name = std::move(name)](const Caught& thrown) { report(name, thrown); });
  spawn_detached(executor, std::move(root), [state = state_] { state->leave(); });
  return true;
}

void TaskGroup::close() {
  std::lock_guard lock(state_->mutex);
  state_->closed = true;
}

std::size_t TaskGroup::running() const {
  std::lock_guard lock(state_->mutex);
  return state_->running;
}

Task<void> TaskGroup::wait_all() {
  Promise<bool> idle;
  {
    std::lock_guard lock(state_->mutex);
    if (state_->running == 0) co_return;
    state_->waiters.push_back(idle);
  }
  co_await idle.future();
}

}  // namespace backplane
