#include "stable/store_threads.hpp"

#include <pthread.h>

#include <condition_variable>
#include <deque>
#include <mutex>

#include "backplane/core/server_slot.hpp"
#include "base/signal_stack.hpp"
#include "stable/call_threads.hpp"

namespace backplane::stable {

struct StoreThreads::Shared {
  std::string name;
  std::size_t most = 1;
  ServerSlot server = current_server_slot();
  std::mutex mutex;  // guards the members below, and threads_
  std::condition_variable queued, ended;
  std::deque<std::function<void()>> queue;
  std::size_t live = 0, running = 0;
  bool stopping = false;
};

StoreThreads::StoreThreads(std::string name, std::size_t most) : shared_(std::make_shared<Shared>()) {
  shared_->name = std::move(name);
  shared_->most = most;
}

// The threads have been joined or detached, unless stop() was not called.
StoreThreads::~StoreThreads() {
  if (!threads_.empty()) (void)stop(std::chrono::nanoseconds::zero());
}

bool StoreThreads::post(std::function<void()> work) {
  const std::lock_guard lock(shared_->mutex);
  if (shared_->stopping) return false;
  shared_->queue.push_back(std::move(work));
  const std::size_t idle = shared_->live - shared_->running;
  if (idle < shared_->queue.size() && shared_->live < shared_->most) {
    threads_.emplace_back([shared = shared_] { run(shared); });
    ++shared_->live;
  }
  shared_->queued.notify_one();
  return true;
}

void StoreThreads::run(const std::shared_ptr<Shared>& shared) {
  pthread_setname_np(pthread_self(), shared->name.substr(0, 15).c_str());
  const SignalStack signals;
  const ServerScope server(shared->server);
  const CallScope place(CallPlace::kRequest);  // a store that calls the server would wait for itself
  std::unique_lock lock(shared->mutex);
  while (true) {
    shared->queued.wait(lock, [&] { return !shared->queue.empty() || shared->stopping; });
    if (shared->queue.empty()) break;
    std::function<void()> work = std::move(shared->queue.front());
    shared->queue.pop_front();
    ++shared->running;
    lock.unlock();
    work();
    work = nullptr;
    lock.lock();
    --shared->running;
    shared->ended.notify_all();
  }
  --shared->live;
  shared->ended.notify_all();
}

bool StoreThreads::wait_alone(std::chrono::nanoseconds limit) {
  std::unique_lock lock(shared_->mutex);
  return shared_->ended.wait_for(lock, limit, [this] { return shared_->queue.empty() && shared_->running == 1; });
}

bool StoreThreads::stop(std::chrono::nanoseconds limit) {
  std::unique_lock lock(shared_->mutex);
  shared_->stopping = true;
  shared_->queued.notify_all();
  const bool all = shared_->ended.wait_for(lock, limit, [this] { return shared_->live == 0; });
  std::vector<std::thread> threads;
  threads.swap(threads_);
  lock.unlock();
  for (std::thread& thread : threads) {
    if (all) {
      thread.join();
    } else {
      thread.detach();
    }
  }
  return all;
}

}  // namespace backplane::stable
