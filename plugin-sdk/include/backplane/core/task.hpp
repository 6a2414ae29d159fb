// Coroutines of the SDK: Task<T> (a lazy coroutine), Executor (a thread or pool that resumes coroutines), Promise and Future (one value,
// set once).
//
// Thread-safety: a Task belongs to one caller. Executor::post and Promise::set may be called from any thread. A coroutine that awaits a
//                Future resumes on the executor that was current when the wait began.
// Lifetime:      a Task owns its coroutine frame. Destroy a Task only before it has started or after it has finished. An Executor
//                outlives every coroutine that runs on it.
// Errors:        an exception that leaves a coroutine is rethrown by the co_await of its Task.
#pragma once

#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <variant>

#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

class IoExecutor;

// Runs functions and resumes coroutines: one thread of the host, or a pool. A single-thread executor runs its work in order, one at a
// time.
class Executor {
 public:
  virtual ~Executor();
  // Queues `work`; never runs it inside this call. Work posted after the executor has stopped is dropped. An exception that `work` throws
  // is logged and has no other effect.
  virtual void post(std::function<void()> work) = 0;
  // Queues the resumption of `frame`; never resumes it inside this call.
  virtual void post(std::coroutine_handle<> frame) = 0;
  // Runs `work` once after `delay`. The returned function cancels it. The function is idempotent and may be called from any thread. It does
  // not wait for a run that has begun.
  virtual std::function<void()> after(std::chrono::nanoseconds delay, std::function<void()> work) = 0;
  // Returns this executor if it can wait for descriptors (net/io_executor.hpp), otherwise null.
  virtual IoExecutor* io() noexcept { return nullptr; }
};

// The executor that the calling thread belongs to; null on a thread without one.
Executor* current_executor() noexcept;

// Makes `executor` the current executor of this thread for the lifetime of the object. Only for implementations of Executor.
class ExecutorScope {
 public:
  explicit ExecutorScope(Executor* executor) noexcept;
  ~ExecutorScope();
  ExecutorScope(const ExecutorScope&) = delete;
  ExecutorScope& operator=(const ExecutorScope&) = delete;

 private:
  Executor* previous_;
};

template <class T>
class Task;

// Parts of Task, Promise and Future that their templates need. Not for plugins.
namespace detail {

// Memory of coroutine frames. Each thread caches released frames by size, because concurrent requests have frames of the same sizes.
void* take_frame(std::size_t size);
void give_frame_back(void* frame, std::size_t size) noexcept;

// Base of all Task promises: the continuation to resume at the end, and the exception to rethrow there.
struct PromiseBase {
  static void* operator new(std::size_t size) { return take_frame(size); }
  static void operator delete(void* frame, std::size_t size) noexcept { give_frame_back(frame, size); }

  // Set when the task is awaited, before the coroutine's body runs.
  std::coroutine_handle<> continuation;
  std::exception_ptr error;

  // Resumes the continuation by symmetric transfer.
  struct FinalAwaiter {
    bool await_ready() const noexcept { return false; }
    template <class P>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<P> frame) const noexcept {
      auto next = frame.promise().continuation;
      return next ? next : std::noop_coroutine();
    }
    void await_resume() const noexcept {}
  };
  std::suspend_always initial_suspend() const noexcept { return {}; }
  FinalAwaiter final_suspend() const noexcept { return {}; }
  void unhandled_exception() noexcept { error = std::current_exception(); }
};

// The promise type of Task<T>: stores the value or the exception until the caller's co_await moves it out.
template <class T>
struct TaskPromise : PromiseBase {
  std::optional<T> value;
  Task<T> get_return_object() noexcept;
  template <class U>
  void return_value(U&& v) {
    value.emplace(std::forward<U>(v));
  }
  // Moves the value out, or rethrows the exception of the body. Called once.
  T take() {
    if (error) std::rethrow_exception(error);
    return std::move(*value);
  }
};

template <>
struct TaskPromise<void> : PromiseBase {
  Task<void> get_return_object() noexcept;
  void return_void() const noexcept {}
  void take() {
    if (error) std::rethrow_exception(error);
  }
};

}  // namespace detail

// A coroutine that starts when it is awaited and returns one T. Await it exactly once, on any executor. The body runs on the executor of
// the caller until the body switches to another one.
//
//   Task<Status> Controller::reconcile(std::string key) {
//     auto found = co_await api_.get(kMaps, "default", key);
//     if (!found.ok()) co_return std::move(found.status());
//     …
//     co_return Status();
//   }
//
// Rules for code compiled with g++ 12: coroutines are named functions or members (no lambdas with captures); parameters by value, unless
// the caller awaits the task to its end; one co_await per statement; no co_await inside a conditional expression; no lock held across a
// co_await.
template <class T = void>
class [[nodiscard]] Task {
 public:
  using promise_type = detail::TaskPromise<T>;
  using Handle = std::coroutine_handle<promise_type>;

  // An empty task; awaiting it is undefined.
  Task() = default;
  explicit Task(Handle frame) noexcept : frame_(frame) {}
  Task(Task&& other) noexcept : frame_(std::exchange(other.frame_, {})) {}
  Task& operator=(Task&& other) noexcept {
    if (this != &other) {
      if (frame_) frame_.destroy();
      frame_ = std::exchange(other.frame_, {});
    }
    return *this;
  }
  ~Task() {
    if (frame_) frame_.destroy();
  }

  // Starts the coroutine by symmetric transfer: no executor is involved, and a long chain of tasks that await each other does not grow the
  // stack.
  struct Awaiter {
    Handle frame;
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) const noexcept {
      frame.promise().continuation = caller;
      return frame;
    }
    T await_resume() const { return frame.promise().take(); }
  };
  // Starts the task. A task that is not awaited never runs.
  Awaiter operator co_await() const& noexcept { return Awaiter{frame_}; }
  Awaiter operator co_await() const&& noexcept { return Awaiter{frame_}; }

 private:
  Handle frame_;
};

namespace detail {
template <class T>
Task<T> TaskPromise<T>::get_return_object() noexcept {
  return Task<T>(std::coroutine_handle<TaskPromise>::from_promise(*this));
}
inline Task<void> TaskPromise<void>::get_return_object() noexcept {
  return Task<void>(std::coroutine_handle<TaskPromise>::from_promise(*this));
}

// The state shared by a Promise and its Future.
template <class T>
struct OneShot {
  std::mutex mutex;
  std::optional<T> value;
  // Both are set if a coroutine waits before the value is set.
  std::coroutine_handle<> waiter;
  Executor* executor = nullptr;
};
}  // namespace detail

// The receiving side of a Promise. Await it once.
template <class T>
class Future {
 public:
  explicit Future(std::shared_ptr<detail::OneShot<T>> state) : state_(std::move(state)) {}
  // For co_await only.
  bool await_ready() const {
    std::lock_guard lock(state_->mutex);
    return state_->value.has_value();
  }
  bool await_suspend(std::coroutine_handle<> caller) const {
    std::lock_guard lock(state_->mutex);
    if (state_->value) return false;
    state_->waiter = caller;
    state_->executor = current_executor();
    return true;
  }
  T await_resume() const { return std::move(*state_->value); }

 private:
  std::shared_ptr<detail::OneShot<T>> state_;
};

// The sending side of a Future. Copies share one value; the first call of set() sets it. If every copy is destroyed without a call of
// set(), a waiting coroutine never resumes.
//
//   Promise<int> answer;
//   executor.post([answer] { answer.set(42); });
//   const int value = co_await answer.future();
template <class T>
class Promise {
 public:
  Promise() : state_(std::make_shared<detail::OneShot<T>>()) {}
  Future<T> future() const { return Future<T>(state_); }
  // Sets the value and resumes the waiting coroutine on its executor, or inside this call if the coroutine has no executor. Returns false
  // and drops `value` if a value was set before.
  bool set(T value) const {
    std::coroutine_handle<> waiter;
    Executor* executor = nullptr;
    {
      std::lock_guard lock(state_->mutex);
      if (state_->value) return false;
      state_->value.emplace(std::move(value));
      waiter = std::exchange(state_->waiter, {});
      executor = state_->executor;
    }
    if (waiter) {
      if (executor)
        executor->post(waiter);
      else
        waiter.resume();
    }
    return true;
  }

 private:
  std::shared_ptr<detail::OneShot<T>> state_;
};

// `co_await resume_on(executor)` continues the coroutine on `executor`. It does not suspend if `executor` is the current one.
//
//   Executor& origin = *current_executor();
//   co_await resume_on(host.executor("keys"));  // long work without delaying the connection's executor
//   co_await resume_on(origin);
struct ResumeOn {
  Executor& executor;
  bool await_ready() const noexcept { return current_executor() == &executor; }
  void await_suspend(std::coroutine_handle<> frame) const { executor.post(frame); }
  void await_resume() const noexcept {}
};
inline ResumeOn resume_on(Executor& executor) noexcept { return ResumeOn{executor}; }

// Waits at least `delay` on the current executor. Precondition: the caller runs on an executor. Not cancellable; a Sleeper
// (points/hooks.hpp) ends early at shutdown.
Task<void> sleep_for(std::chrono::nanoseconds delay);

// Runs `work` on the host's pool for blocking calls (fsync, file reads, name resolution) and resumes the caller on its executor. If `work`
// throws, the co_await rethrows the exception.
//
//   std::string text;
//   co_await run_blocking([&text, path] { text = read_file(path); });
Task<void> run_blocking(std::function<void()> work);
// For the host: sets the pool of run_blocking() for the calling thread's server, before plugins load.
void set_blocking_executor(Executor* executor) noexcept;

// Starts `task` on `executor` and does not wait for it. `done` is called after the task has ended. An exception that leaves the task
// terminates the process, so the task must catch its exceptions. Prefer Host::spawn, whose tasks the host awaits at shutdown.
void spawn_detached(Executor& executor, Task<void> task, std::function<void()> done = {});

}  // namespace BACKPLANE_API
