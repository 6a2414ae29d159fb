// Threads with an Asio io_context each, as SDK executors.  A loop that is constructed on a thread of a server works for that server;
// another one, like the BlockingPool, works for the server that has posted the work.
//
// Thread-safety: post() and after() from any thread; everything that runs on a loop runs on its one thread.
// Lifetime:      a LoopPool is stopped and joined before what its coroutines point to goes away.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <memory>
#include <semaphore>
#include <thread>
#include <vector>

#include "backplane/core/server_slot.hpp"
#include "backplane/net/io_executor.hpp"
#include "base/loop_inbox.hpp"

namespace backplane {

// One io_context, run by one thread.
class IoLoop final : public IoExecutor {
 public:
  explicit IoLoop(std::string name, bool may_block = false);
  ~IoLoop() override;

  boost::asio::io_context& context() noexcept { return context_; }
  void post(std::function<void()> work) override;
  void post(std::coroutine_handle<> frame) override;
  std::function<void()> after(std::chrono::nanoseconds delay, std::function<void()> work) override;
  std::unique_ptr<DescriptorWatch> watch(int descriptor) override;
  bool may_block() const noexcept override { return may_block_; }
  void at_end(std::function<void()> work) override { at_end_.push_back(std::move(work)); }

  void start();  // makes the thread
  void stop();   // drops what is queued and joins the thread; not from the loop itself
  // The same for a loop with blocking work: returns false if the thread has not ended within `limit`; it is then not joined.
  bool stop_within(std::chrono::nanoseconds limit);

 private:
  // True on the loop's thread, while it runs handlers.
  bool is_here() noexcept { return context_.get_executor().running_in_this_thread(); }

  std::string name_;
  const bool may_block_;
  const ServerSlot server_ = current_server_slot();
  boost::asio::io_context context_{1};
  LoopInbox inbox_{context_};
  std::unique_ptr<boost::asio::executor_work_guard<boost::asio::io_context::executor_type>> work_;
  std::vector<std::function<void()>> at_end_;
  std::thread thread_;
  std::shared_ptr<std::binary_semaphore> ended_ = std::make_shared<std::binary_semaphore>(0);
};

// A loop per core for connections.
class LoopPool {
 public:
  explicit LoopPool(std::size_t count);
  ~LoopPool();
  void start();
  void stop();
  std::size_t size() const noexcept { return loops_.size(); }
  IoLoop& loop(std::size_t i) noexcept { return *loops_[i % loops_.size()]; }

 private:
  std::vector<std::unique_ptr<IoLoop>> loops_;
};

// Threads for calls that block.
class BlockingPool final : public Executor {
 public:
  explicit BlockingPool(std::size_t threads);
  ~BlockingPool() override;
  void post(std::function<void()> work) override;
  void post(std::coroutine_handle<> frame) override;
  std::function<void()> after(std::chrono::nanoseconds delay, std::function<void()> work) override;  // not supported: runs never
  void stop();

 private:
  boost::asio::thread_pool pool_;
};

// Runs `task` to its end on `loop` and returns its result; for main() and tests, never on an executor's thread.
template <class T>
T run_on(Executor& executor, Task<T> task);

}  // namespace backplane

#include "base/run_on.ipp"
