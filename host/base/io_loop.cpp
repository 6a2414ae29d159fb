#include "base/io_loop.hpp"

#include <pthread.h>

#include <boost/asio/error.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/posted_work.hpp"
#include "base/signal_stack.hpp"

namespace backplane {
namespace asio = boost::asio;
namespace {

class LoopWatch final : public DescriptorWatch {
 public:
  LoopWatch(asio::io_context& context, const std::string& loop, int descriptor) : loop_(loop), descriptor_(context, descriptor) {}
  LoopWatch(const LoopWatch&) = delete;
  LoopWatch& operator=(const LoopWatch&) = delete;
  // The destructor of descriptor_ would close the descriptor. release() ends pending waits with operation_aborted, which the handlers
  // ignore.
  ~LoopWatch() override { descriptor_.release(); }

  void when_readable(std::function<void()> work) override { wait(asio::posix::descriptor_base::wait_read, std::move(work)); }
  void when_writable(std::function<void()> work) override { wait(asio::posix::descriptor_base::wait_write, std::move(work)); }

 private:
  void wait(asio::posix::descriptor_base::wait_type what, std::function<void()> work) {
    descriptor_.async_wait(what,
                           [work = std::move(work), &loop = loop_, gone = std::weak_ptr<bool>(here_)](boost::system::error_code error) {
                             // `work` also runs after another error, which its next read or write of the descriptor reports.
                             if (error != asio::error::operation_aborted && !gone.expired()) run_posted(loop, work);
                           });
  }

  const std::string& loop_;  // the name of the loop, which outlives its watches
  asio::posix::stream_descriptor descriptor_;
  const std::shared_ptr<bool> here_ = std::make_shared<bool>(true);  // a handler that is queued when the watch is destroyed does nothing
};

// Runs a loop with may_block, which runs handlers of plugins: their exceptions are logged, and the loop continues.  On the other loops an
// exception of a handler, which may leave a connection unusable, ends the process.
void run_plugins_loop(asio::io_context& context, const std::string& name) {
  while (!context.stopped()) run_posted(name, [&context] { context.run(); });
}

// Work that runs for the server of the thread that has posted it.
struct ServersWork {
  std::function<void()> work;
  ServerSlot slot = current_server_slot();
  void operator()() const {
    const ServerScope server(slot);
    work();
  }
};
struct ServersFrame {
  std::coroutine_handle<> frame;
  ServerSlot slot = current_server_slot();
  void operator()() const {
    const ServerScope server(slot);
    frame.resume();
  }
};

}  // namespace

IoLoop::IoLoop(std::string name, bool may_block)
    : name_(std::move(name)),
      may_block_(may_block),
      work_(std::make_unique<asio::executor_work_guard<asio::io_context::executor_type>>(context_.get_executor())) {}

IoLoop::~IoLoop() {
  stop();
  for (const auto& work : at_end_) work();
}

// The work that one thread posts runs in the order of the posts. Work that the loop's thread posts is in Asio's queue, and work of all
// other threads is in the inbox; no order is defined between the two.
void IoLoop::post(std::function<void()> work) {
  if (server_ == kNoServer) work = ServersWork{std::move(work)};
  if (!is_here()) return inbox_.post(std::move(work));
  asio::post(context_, [this, work = std::move(work)] { run_posted(name_, work); });
}

void IoLoop::post(std::coroutine_handle<> frame) {
  if (server_ == kNoServer) return post(std::function<void()>([frame] { frame.resume(); }));
  if (!is_here()) return inbox_.post(frame);
  asio::post(context_, [this, frame] { run_posted(name_, frame); });
}

// The expiry time of a cancelled timer. It is needed because a handler that is already queued does not get operation_aborted.
constexpr auto kCancelled = asio::steady_timer::time_point::min();

std::function<void()> IoLoop::after(std::chrono::nanoseconds delay, std::function<void()> work) {
  auto timer = std::make_shared<asio::steady_timer>(context_);
  if (server_ == kNoServer) work = ServersWork{std::move(work)};
  // A timer is not thread-safe, so it is started and cancelled on the loop.
  auto arm = [this, timer, delay, work = std::move(work)]() mutable {
    if (timer->expiry() == kCancelled) return;
    timer->expires_after(delay);
    timer->async_wait([this, timer, work = std::move(work)](boost::system::error_code error) {
      if (!error && timer->expiry() != kCancelled) run_posted(name_, work);
    });
  };
  if (is_here()) {
    arm();
  } else {
    inbox_.post(std::move(arm));
  }
  return [this, weak = std::weak_ptr<asio::steady_timer>(timer)] {
    auto cancel = [weak] {
      if (auto live = weak.lock()) live->expires_at(kCancelled);
    };
    if (is_here()) {
      cancel();
    } else {
      inbox_.post(cancel);
    }
  };
}

std::unique_ptr<DescriptorWatch> IoLoop::watch(int descriptor) { return std::make_unique<LoopWatch>(context_, name_, descriptor); }

void IoLoop::start() {
  thread_ = std::thread([this] {
    pthread_setname_np(pthread_self(), name_.substr(0, 15).c_str());
    const SignalStack signals;
    ExecutorScope scope(this);
    const ServerScope server(server_);
    if (may_block_)
      run_plugins_loop(context_, name_);
    else
      context_.run();
    ended_->release();
  });
}

void IoLoop::stop() {
  work_.reset();
  context_.stop();
  if (thread_.joinable()) thread_.join();
}

bool IoLoop::stop_within(std::chrono::nanoseconds limit) {
  work_.reset();
  context_.stop();
  if (thread_.joinable() && !ended_->try_acquire_for(limit)) return false;
  stop();
  return true;
}

LoopPool::LoopPool(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) loops_.push_back(std::make_unique<IoLoop>("io-" + std::to_string(i)));
}
LoopPool::~LoopPool() { stop(); }
void LoopPool::start() {
  for (auto& loop : loops_) loop->start();
}
void LoopPool::stop() {
  for (auto& loop : loops_) loop->stop();
}

BlockingPool::BlockingPool(std::size_t threads) : pool_(threads) {}
BlockingPool::~BlockingPool() { stop(); }
void BlockingPool::post(std::function<void()> work) {
  asio::post(pool_, [slot = current_server_slot(), work = std::move(work)] {
    static const std::string kName = "blocking";
    const ServerScope server(slot);
    run_posted(kName, work);
  });
}
void BlockingPool::post(std::coroutine_handle<> frame) { asio::post(pool_, ServersFrame{frame}); }
std::function<void()> BlockingPool::after(std::chrono::nanoseconds, std::function<void()>) {
  return [] {};
}
void BlockingPool::stop() {
  pool_.stop();
  pool_.join();
}

}  // namespace backplane
