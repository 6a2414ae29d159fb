#include "plugin/call_thread.hpp"

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "backplane/core/server_slot.hpp"
#include "base/signal_stack.hpp"

namespace backplane {
namespace {

constinit PerServer<std::atomic<std::size_t>> timed_out_call_count;

}  // namespace

struct CallThread::Worker {
  std::mutex mutex;
  std::condition_variable changed;
  std::function<void()> call;  // queued or running
  bool stopping = false, timed_out = false;
  std::thread thread;

  void work() {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [this] { return stopping || call; });
      if (!call) return;
      lock.unlock();
      call();
      lock.lock();
      call = nullptr;
      changed.notify_all();
      if (timed_out) break;
    }
    timed_out_call_count.here().fetch_sub(1);
  }
};

CallThread::~CallThread() { stop(); }

bool CallThread::run(std::function<void()> call, std::chrono::nanoseconds limit) {
  if (!worker_) {
    worker_ = std::make_shared<Worker>();
    worker_->thread = std::thread([worker = worker_, slot = current_server_slot()] {
      const ServerScope server(slot);
      const SignalStack stack;  // a call may use up its stack
      ::pthread_setname_np(::pthread_self(), "plugin-calls");
      worker->work();
    });
  }
  Worker& worker = *worker_;
  std::unique_lock lock(worker.mutex);
  worker.call = std::move(call);
  worker.changed.notify_all();
  const auto returned = [&] { return !worker.call; };
  if (limit <= std::chrono::nanoseconds::zero()) {
    worker.changed.wait(lock, returned);
  } else if (!worker.changed.wait_for(lock, limit, returned)) {
    worker.timed_out = true;
    timed_out_call_count.here().fetch_add(1);
    worker.thread.detach();
    lock.unlock();
    worker_.reset();
    return false;
  }
  return true;
}

void CallThread::stop() {
  if (!worker_) return;
  {
    const std::lock_guard lock(worker_->mutex);
    worker_->stopping = true;
  }
  worker_->changed.notify_all();
  worker_->thread.join();
  worker_.reset();
}

std::size_t timed_out_calls() noexcept { return timed_out_call_count.here().load(); }

}  // namespace backplane
