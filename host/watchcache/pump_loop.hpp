// The executor of the caches: a loop with a thread. Another thread may run the posted work in place of the loop's thread
// (CallerRunsExecutor, points/storage_feed.hpp): when a thread of the store has committed a write, it updates the caches itself, and the
// loop's thread is not woken.
//
// Thread-safety: post(), after() and run_posted() from any thread. Work runs in the order of posting, never on two threads at a time.
// Lifetime:      call stop() before the objects that posted work uses are destroyed. Threads of the store may post until the PumpLoop is
//                destroyed.
// Errors:        as IoLoop: an exception that posted work throws ends the process.
#pragma once

#include <coroutine>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "backplane/points/storage_feed.hpp"
#include "base/io_loop.hpp"

namespace backplane {

class PumpLoop final : public IoExecutor, public CallerRunsExecutor {
 public:
  explicit PumpLoop(std::string name);
  ~PumpLoop() override;

  void post(std::function<void()> work) override { enqueue({{}, std::move(work), current_server_slot()}); }
  void post(std::coroutine_handle<> frame) override { enqueue({frame, {}, current_server_slot()}); }
  std::function<void()> after(std::chrono::nanoseconds delay, std::function<void()> work) override;
  std::unique_ptr<DescriptorWatch> watch(int descriptor) override;
  bool may_block() const noexcept override { return false; }
  void at_end(std::function<void()> work) override { loop_.at_end(std::move(work)); }
  void run_posted() noexcept override;

  void start();
  // Joins the loop's thread, and waits for work that another thread runs. Queued work does not run; it is destroyed with the PumpLoop.
  // Not to be called by work of this executor.
  void stop();

 private:
  struct Item {
    std::coroutine_handle<> frame;  // null: run `work`
    std::function<void()> work;
    ServerSlot server;
  };

  void enqueue(Item item);
  void wake();
  void run_on_loop();
  void run(std::size_t count, std::unique_lock<std::mutex>& lock);

  const ServerSlot server_ = current_server_slot();
  IoLoop loop_;
  std::mutex mutex_;  // guards the four members below
  std::deque<Item> queue_;
  bool running_ = false;  // a thread runs work
  bool woken_ = false;    // run_on_loop() has been posted, or will be
  bool open_ = false;     // start() has been called, stop() has not
  std::mutex caller_;     // held during run_posted(), so that stop() can wait for it; locked before mutex_
};

}  // namespace backplane
