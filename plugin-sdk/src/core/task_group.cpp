#include "backplane/core/task_group.hpp"

#include <mutex>
#include <vector>

#include "backplane/core/exception_text.hpp"
#include "backplane/core/status.hpp"

namespace backplane BACKPLANE_API {

struct TaskGroup::State {
  explicit State(OnError on_error_in) : on_error(std::move(on_error_in)) {}

  const OnError on_error;
  mutable std::mutex mutex;
  std::size_t running = 0;
  bool closed = false;
  std::vector<Promise<bool>> waiters;

  void leave() {
    std::vector<Promise<bool>> idle;
    {
      const std::lock_guard lock(mutex);
      if (--running == 0) idle.swap(waiters);
    }
    for (const auto& waiter : idle) waiter.set(true);
  }
  // The state outlives the task, because the function `done` of the task shares ownership of it.
  static Task<void> run(State& state, std::string name, Task<void> task) {
    try {
      co_await std::move(task);
    } catch (...) {
      state.on_error(name);
    }
  }
};

namespace {

void log_error(Logger& logger, std::string_view task) {
  logger.error("a background task failed task=" + std::string(task) + " error=" + quoted(exception_text()));
}

}  // namespace

TaskGroup::TaskGroup(OnError on_error) : state_(std::make_shared<State>(std::move(on_error))) {}
TaskGroup::TaskGroup(Logger& logger) : TaskGroup([&logger](std::string_view task) { log_error(logger, task); }) {}
TaskGroup::~TaskGroup() = default;

bool TaskGroup::spawn(Executor& executor, std::string name, Task<void> task) {
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->closed) return false;
    ++state_->running;
  }
  spawn_detached(executor, State::run(*state_, std::move(name), std::move(task)), [state = state_] { state->leave(); });
  return true;
}

void TaskGroup::close() {
  const std::lock_guard lock(state_->mutex);
  state_->closed = true;
}

std::size_t TaskGroup::running() const {
  const std::lock_guard lock(state_->mutex);
  return state_->running;
}

Task<void> TaskGroup::wait_all() {
  Promise<bool> idle;
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->running == 0) co_return;
    state_->waiters.push_back(idle);
  }
  const bool ended = co_await idle.future();
  static_cast<void>(ended);
}

}  // namespace BACKPLANE_API
