#include "watchcache/pump_loop.hpp"

#include <atomic>
#include <utility>

namespace backplane {
namespace {

// Posts the functions to the PumpLoop when the descriptor is readable or writable.
class PumpWatch final : public DescriptorWatch {
 public:
  PumpWatch(PumpLoop& loop, std::unique_ptr<DescriptorWatch> below) : loop_(loop), below_(std::move(below)) {}

  void when_readable(std::function<void()> work) override { below_->when_readable(as_work(std::move(work))); }
  void when_writable(std::function<void()> work) override { below_->when_writable(as_work(std::move(work))); }

 private:
  std::function<void()> as_work(std::function<void()> work) {
    return [&loop = loop_, work = std::move(work), gone = std::weak_ptr<bool>(here_)] {
      loop.post([work, gone] {
        if (!gone.expired()) work();
      });
    };
  }

  PumpLoop& loop_;
  const std::unique_ptr<DescriptorWatch> below_;
  const std::shared_ptr<bool> here_ = std::make_shared<bool>(true);  // work that is queued when the watch is destroyed does not run
};

}  // namespace

PumpLoop::PumpLoop(std::string name) : loop_(std::move(name)) {}
PumpLoop::~PumpLoop() {
  stop();
  // The destructors of the remaining work may post more work.
  for (;;) {
    std::deque<Item> left;
    {
      const std::lock_guard lock(mutex_);
      left.swap(queue_);
    }
    if (left.empty()) return;
  }
}

void PumpLoop::start() {
  {
    const std::lock_guard lock(mutex_);
    open_ = true;
    woken_ = true;
  }
  wake();  // for work that was posted before
  loop_.start();
}

void PumpLoop::stop() {
  {
    const std::lock_guard lock(mutex_);
    open_ = false;
  }
  loop_.stop();
  const std::lock_guard last(caller_);
}

void PumpLoop::wake() {
  loop_.post([this] { run_on_loop(); });
}

void PumpLoop::enqueue(Item item) {
  {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(item));
    if (running_ || woken_ || !open_) return;
    if (CallerRunsScope* const scope = CallerRunsScope::current(); scope != nullptr && scope->accept(*this)) return;
    woken_ = true;
  }
  wake();
}

void PumpLoop::run_posted() noexcept {
  const std::lock_guard caller(caller_);
  std::unique_lock lock(mutex_);
  if (running_ || woken_ || !open_) return;
  run(queue_.size(), lock);
}

void PumpLoop::run_on_loop() {
  std::unique_lock lock(mutex_);
  woken_ = false;
  if (running_) return;  // another thread runs work; at the end it wakes the loop if work remains
  run(queue_.size(), lock);
}

// Runs the first `count` pieces of work. Wakes the loop for work that is posted meanwhile, so that the loop handles timers and descriptors
// before it.
void PumpLoop::run(std::size_t count, std::unique_lock<std::mutex>& lock) {
  running_ = true;
  const ExecutorScope scope(this);
  for (; count > 0 && open_; --count) {
    Item item = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    {
      const ServerScope server(server_ != kNoServer ? server_ : item.server);
      if (item.frame) {
        item.frame.resume();
      } else {
        item.work();
        item.work = {};
      }
    }
    lock.lock();
  }
  running_ = false;
  if (queue_.empty() || woken_ || !open_) return;
  woken_ = true;
  lock.unlock();
  wake();
}

std::function<void()> PumpLoop::after(std::chrono::nanoseconds delay, std::function<void()> work) {
  const auto cancelled = std::make_shared<std::atomic<bool>>(false);
  auto cancel = loop_.after(delay, [this, cancelled, work = std::move(work)] {
    post([cancelled, work] {
      if (!cancelled->load()) work();
    });
  });
  return [cancelled, cancel = std::move(cancel)] {
    cancelled->store(true);
    cancel();
  };
}

std::unique_ptr<DescriptorWatch> PumpLoop::watch(int descriptor) { return std::make_unique<PumpWatch>(*this, loop_.watch(descriptor)); }

}  // namespace backplane
