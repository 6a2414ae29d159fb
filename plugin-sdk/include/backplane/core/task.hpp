// The async words of the SDK: Task<T> (a lazy coroutine), Executor (where coroutines resume), Promise/Future (one value, once).
//
// Thread-safety: a Task belongs to one caller.  Executor::post may be called from any thread.  Promise::set may be called from any
//                thread; the coroutine that awaits its Future resumes on the executor that was current when it began to wait.
// Lifetime:      a Task owns its frame; destroying an unfinished Task destroys the frame, so only a task that never started or that
//                finished may be destroyed.  Executors outlive every coroutine that runs on them.
// Errors:        an exception that leaves a coroutine is rethrown where it is awaited.
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

// A place where work runs: one thread of the host, or a pool.  Work posted to a single-thread executor runs in order, never at once.
class Executor {
 public:
  virtual ~Executor();
  // Runs `work` soon, never inside this call.  After the executor has stopped the work is dropped.
  virtual void post(std::function<void()> work) = 0;
  // Resumes `frame` soon, never inside this call.
  virtual void post(std::coroutine_handle<> frame) = 0;
  // Runs `work` once after `delay`; the returned function cancels it (idempotent, any thread; a run that has begun is not waited for).
  virtual std::function<void()> after(std::chrono::nanoseconds delay, std::function<void()> work) = 0;
};

// The executor whose thread this is, or null on a foreign thread.
Executor* current_executor() noexcept;

// Makes `executor` current for this thread while it lives.  For implementers of Executor.
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

namespace detail {

// Memory of a coroutine's frame.  A thread keeps some of what it has given back for the next ones: requests that wait together have the
// same frames in the same sizes.
void* take_frame(std::size_t size);
void give_frame_back(void* frame, std::size_t size) noexcept;

struct PromiseBase {
  static void* operator new(std::size_t size) { return take_frame(size); }
  static void operator delete(void* frame, std::size_t size) noexcept { give_frame_back(frame, size); }

  std::coroutine_handle<> continuation;
  std::exception_ptr error;

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

template <class T>
struct TaskPromise : PromiseBase {
  std::optional<T> value;
  Task<T> get_return_object() noexcept;
  template <class U>
  void return_value(U&& v) {
    value.emplace(std::forward<U>(v));
  }
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

// A coroutine that starts when it is awaited and gives one T.  Await it once.
template <class T = void>
class [[nodiscard]] Task {
 public:
  using promise_type = detail::TaskPromise<T>;
  using Handle = std::coroutine_handle<promise_type>;

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

  struct Awaiter {
    Handle frame;
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) const noexcept {
      frame.promise().continuation = caller;
      return frame;
    }
    T await_resume() const { return frame.promise().take(); }
  };
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

template <class T>
struct OneShot {
  std::mutex mutex;
  std::optional<T> value;
  std::coroutine_handle<> waiter;
  Executor* executor = nullptr;
};
}  // namespace detail

// The reading end: co_await it once.
template <class T>
class Future {
 public:
  explicit Future(std::shared_ptr<detail::OneShot<T>> state) : state_(std::move(state)) {}
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

// The writing end.  Copies share one state; the first set() wins.
template <class T>
class Promise {
 public:
  Promise() : state_(std::make_shared<detail::OneShot<T>>()) {}
  Future<T> future() const { return Future<T>(state_); }
  // Returns false if a value was set before.
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

// Resumes the caller on `executor`.
struct ResumeOn {
  Executor& executor;
  bool await_ready() const noexcept { return current_executor() == &executor; }
  void await_suspend(std::coroutine_handle<> frame) const { executor.post(frame); }
  void await_resume() const noexcept {}
};
inline ResumeOn resume_on(Executor& executor) noexcept { return ResumeOn{executor}; }

// Waits `delay` on the current executor.  Must be called on an executor.
Task<void> sleep_for(std::chrono::nanoseconds delay);

// Runs `work` on the host's blocking pool and resumes the caller where it was.  For fsync, file reads, name resolution.
Task<void> run_blocking(std::function<void()> work);
// Where run_blocking runs; set once by the host before plugins load.
void set_blocking_executor(Executor* executor) noexcept;

// Starts `task` on `executor` and lets it go.  An exception that leaves it ends the process: spawn only tasks that fence themselves.
void spawn_detached(Executor& executor, Task<void> task, std::function<void()> done = {});

}  // namespace BACKPLANE_API
