// SDK executors: loops, each of which has a thread and an Asio io_context, and a pool of threads.  All work of a loop that was constructed
// on a thread of a server belongs to that server. On other loops, and on the BlockingPool, each piece of work belongs to the server of the
// thread that has posted it.
//
// Thread-safety: post() and after() from any thread; all work of a loop runs on the loop's thread.
// Lifetime:      call stop() before the objects that the posted work uses are destroyed.
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

  void start();  // creates the thread
  // Joins the thread after the work that is running. Queued work does not run; it is destroyed with the loop. Not to be called on the loop.
  void stop();
  // As stop(), but waits for the thread for at most `limit`. False: the thread still runs, and is not joined.
  bool stop_within(std::chrono::nanoseconds limit);

 private:
  // True if the calling thread is the loop's thread and runs the io_context.
  bool is_here() noexcept { return context_.get_executor().running_in_this_thread(); }

  std::string name_;
  const bool may_block_;
  const ServerSlot server_ = current_server_slot();
  boost::asio::io_context context_{1};
  LoopInbox inbox_{context_, name_};
  std::unique_ptr<boost::asio::executor_work_guard<boost::asio::io_context::executor_type>> work_;
  std::vector<std::function<void()>> at_end_;
  std::thread thread_;
  std::shared_ptr<std::binary_semaphore> ended_ = std::make_shared<std::binary_semaphore>(0);
};

// A fixed number of loops, for connections.
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

// A pool of threads for calls that block.
class BlockingPool final : public Executor {
 public:
  explicit BlockingPool(std::size_t threads);
  ~BlockingPool() override;
  void post(std::function<void()> work) override;
  void post(std::coroutine_handle<> frame) override;
  std::function<void()> after(std::chrono::nanoseconds delay, std::function<void()> work) override;  // not supported: `work` never runs
  void stop();

 private:
  boost::asio::thread_pool pool_;
};

// Runs `task` on `executor`, blocks until it has ended, and returns its result. For main() and tests; must not be called on an executor's
// thread.
template <class T>
T run_on(Executor& executor, Task<T> task);

}  // namespace backplane

#include "base/run_on.ipp"
