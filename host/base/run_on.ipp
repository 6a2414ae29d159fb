#include <condition_variable>
#include <future>
#include <mutex>

namespace backplane {
namespace detail {
// std::future waits in a system call (futex), in which ThreadSanitizer runs no signal handler: SIGTERM would wait as long.
template <class T>
struct Outcome {
  std::promise<T> promise;
  std::mutex mutex;
  std::condition_variable changed;
  bool ready = false;
};

template <class T>
Task<void> fulfil(Task<T> task, std::shared_ptr<Outcome<T>> outcome) {
  try {
    if constexpr (std::is_void_v<T>) {
      co_await task;
      outcome->promise.set_value();
    } else {
      outcome->promise.set_value(co_await task);
    }
  } catch (...) {
    outcome->promise.set_exception(std::current_exception());
  }
  std::lock_guard lock(outcome->mutex);
  outcome->ready = true;
  outcome->changed.notify_all();
}
}  // namespace detail

template <class T>
T run_on(Executor& executor, Task<T> task) {
  auto outcome = std::make_shared<detail::Outcome<T>>();
  auto future = outcome->promise.get_future();
  spawn_detached(executor, detail::fulfil<T>(std::move(task), outcome));
  std::unique_lock lock(outcome->mutex);
  outcome->changed.wait(lock, [&] { return outcome->ready; });
  lock.unlock();
  return future.get();
}
}  // namespace backplane
