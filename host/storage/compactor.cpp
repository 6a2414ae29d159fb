#include "storage/compactor.hpp"

#include <mutex>
#include <utility>

#include "base/caught.hpp"
#include "base/task_group.hpp"
#include "storage/log.hpp"

namespace backplane {

struct Compactor::State : std::enable_shared_from_this<State> {
  State(StorageBackend& store, Executor& where, std::chrono::nanoseconds every) : storage(store), executor(where), interval(every) {}

  void arm() {
    std::lock_guard lock(mutex);
    if (stopped) return;
    cancel = executor.after(interval, [state = shared_from_this()] { state->group.spawn(state->executor, "compaction", state->run()); });
  }

  Task<void> run() {
    try {
      auto status = co_await tick();
      if (!status.ok()) storage_log().warn("compaction failed, will be retried error={}", status.message());
    } catch (...) {
      const Caught error = caught();
      storage_log().error("compaction failed, will be retried error={:?}{}", error.what, error.stack);
    }
    arm();
  }

  Task<Status> tick() {
    auto current = co_await storage.current_revision();
    if (!current.ok()) co_return std::move(current.status());
    const Revision target = std::exchange(seen, *current);
    if (target <= 0) co_return Status{};
    auto status = co_await storage.compact(target);
    if (status.ok()) {
      compacted->store(target, std::memory_order_release);
      storage_log().debug("history compacted revision={}", target);
    }
    co_return status;
  }

  StorageBackend& storage;
  Executor& executor;
  const std::chrono::nanoseconds interval;
  LoggedTaskGroup group;
  Revision seen = 0;  // the revision at the last tick; used by tick() only
  const std::shared_ptr<std::atomic<Revision>> compacted = std::make_shared<std::atomic<Revision>>(0);
  std::mutex mutex;
  bool stopped = false;
  std::function<void()> cancel;
};

Compactor::Compactor(StorageBackend& storage, Executor& executor, std::chrono::nanoseconds interval)
    : state_(std::make_shared<State>(storage, executor, interval)) {}
Compactor::~Compactor() = default;

void Compactor::start() { state_->arm(); }

Task<void> Compactor::stop() {
  std::function<void()> cancel;
  {
    std::lock_guard lock(state_->mutex);
    state_->stopped = true;
    cancel.swap(state_->cancel);
  }
  if (cancel) cancel();
  state_->group.close();
  co_await state_->group.wait_all();
}

Task<Status> Compactor::tick() { return state_->tick(); }
std::shared_ptr<const std::atomic<Revision>> Compactor::compacted() const { return state_->compacted; }

}  // namespace backplane
