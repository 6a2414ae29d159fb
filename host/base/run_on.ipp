#include <future>

namespace backplane {
namespace detail {
template <class T>
Task<void> fulfil(Task<T> task, std::shared_ptr<std::promise<T>> promise) {
  try {
    if constexpr (std::is_void_v<T>) {
      co_await task;
      promise->set_value();
    } else {
      promise->set_value(co_await task);
    }
  } catch (...) {
    promise->set_exception(std::current_exception());
  }
}
}  // namespace detail

template <class T>
T run_on(Executor& executor, Task<T> task) {
  auto promise = std::make_shared<std::promise<T>>();
  auto future = promise->get_future();
  spawn_detached(executor, detail::fulfil<T>(std::move(task), std::move(promise)));
  return future.get();
}
}  // namespace backplane
