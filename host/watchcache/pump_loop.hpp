// The executor of the caches: a loop with a thread, whose work another thread may run in its place (points/storage_feed.hpp). The thread
// of the store that has committed a write then updates the caches itself, and the loop's thread stays asleep.
//
// Thread-safety: post() and after() from any thread. One piece of work runs at a time, in the order of posting, on either thread.
// Lifetime:      stop it before what its work points to; threads of the store may post to it until it is destroyed.
// Errors:        as IoLoop: an exception of work ends the process.
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
  // Drops what is queued and joins the thread; not from the executor itself.
  void stop();

 private:
  struct Item {
    std::coroutine_handle<> frame;  // or `work`
    std::function<void()> work;
    ServerSlot server;
  };

  void enqueue(Item item);
  void wake();
  void run_on_loop();
  void run(std::size_t count, std::unique_lock<std::mutex>& lock);

  const ServerSlot server_ = current_server_slot();
  IoLoop loop_;
  std::mutex mutex_;  // the members below
  std::deque<Item> queue_;
  bool running_ = false;  // a thread runs work
  bool woken_ = false;    // the loop's thread will run work
  bool open_ = false;     // between start() and stop()
  std::mutex caller_;     // held by another thread while it runs work
};

}  // namespace backplane
