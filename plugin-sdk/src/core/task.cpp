#include "backplane/core/task.hpp"

#include "backplane/core/server_slot.hpp"

namespace backplane BACKPLANE_API {
namespace {

thread_local Executor* t_executor = nullptr;
constinit PerServer<std::atomic<Executor*>> blocking_pools;

// A coroutine that no object owns: it starts at once and frees its frame when it ends.
struct Detached {
  struct promise_type {
    Detached get_return_object() const noexcept { return {}; }
    std::suspend_never initial_suspend() const noexcept { return {}; }
    std::suspend_never final_suspend() const noexcept { return {}; }
    void return_void() const noexcept {}
    void unhandled_exception() const noexcept { std::terminate(); }
  };
};

Detached drive(Executor& executor, Task<void> task, std::function<void()> done) {
  co_await ResumeOn{executor};
  co_await task;
  task = {};  // The frame is destroyed before `done` runs, because `done` may destroy objects to which the frame points.
  if (done) done();
}

}  // namespace

Executor::~Executor() = default;

Executor* current_executor() noexcept { return t_executor; }

ExecutorScope::ExecutorScope(Executor* executor) noexcept : previous_(std::exchange(t_executor, executor)) {}
ExecutorScope::~ExecutorScope() { t_executor = previous_; }

Task<void> sleep_for(std::chrono::nanoseconds delay) {
  Promise<bool> woken;
  current_executor()->after(delay, [woken] { woken.set(true); });
  co_await woken.future();
}

void set_blocking_executor(Executor* executor) noexcept { blocking_pools.here().store(executor); }

Task<void> run_blocking(std::function<void()> work) {
  Executor* pool = blocking_pools.here().load();
  if (pool == nullptr) {
    work();
    co_return;
  }
  Promise<std::exception_ptr> done;
  pool->post([done, work = std::move(work)] {
    std::exception_ptr error;
    try {
      work();
    } catch (...) {
      error = std::current_exception();
    }
    done.set(error);
  });
  std::exception_ptr error = co_await done.future();
  if (error) std::rethrow_exception(error);
}

void spawn_detached(Executor& executor, Task<void> task, std::function<void()> done) { drive(executor, std::move(task), std::move(done)); }

}  // namespace BACKPLANE_API
