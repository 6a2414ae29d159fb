#include "backplane/core/task_set.hpp"

namespace backplane BACKPLANE_API {
namespace detail {

Task<void> run_noting_error(Task<void> task, std::exception_ptr& error) {
  try {
    co_await std::move(task);
  } catch (...) {
    error = std::current_exception();
  }
}

}  // namespace detail

Task<void> when_all(std::vector<Task<void>> tasks) {
  if (tasks.empty()) co_return;
  const auto all = std::make_shared<detail::Gathering>(tasks.size());
  Executor& executor = *current_executor();
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    spawn_detached(executor, detail::run_noting_error(std::move(tasks[i]), all->errors[i]), [all] { all->one_has_ended(); });
  }
  const bool ended = co_await all->done.future();
  static_cast<void>(ended);
  all->rethrow_first();
}

}  // namespace BACKPLANE_API
