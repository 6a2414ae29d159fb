// What other threads post to a loop: a queue, and an eventfd that wakes the loop for the first entry. Asio would wake the loop while it
// holds the lock of its queue, on which the woken thread then sleeps once more.
//
// Thread-safety: post() from any thread; the rest on the loop's thread, or while it does not run.
// Lifetime:      within its io_context's. What is left at the end is dropped. post() may return after the inbox has been destroyed.
// Errors:        std::system_error if there is no descriptor for it.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <coroutine>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace backplane {

class LoopInbox {
 public:
  explicit LoopInbox(boost::asio::io_context& context);
  ~LoopInbox();
  LoopInbox(const LoopInbox&) = delete;
  LoopInbox& operator=(const LoopInbox&) = delete;

  void post(std::function<void()> work) { put({{}, std::move(work)}); }
  void post(std::coroutine_handle<> frame) { put({frame, {}}); }

 private:
  class Signal;
  struct Item {
    std::coroutine_handle<> frame;  // or `work`
    std::function<void()> work;
  };

  void put(Item item);
  void wait();
  void run_all();
  void put_back(std::size_t first);

  std::shared_ptr<const Signal> signal_;  // a thread in post() holds a reference
  boost::asio::posix::stream_descriptor descriptor_;
  std::uint64_t count_ = 0;    // the eventfd's, read and ignored
  std::vector<Item> running_;  // the loop's
  std::mutex mutex_;           // the members below
  std::vector<Item> items_;
  bool signalled_ = false;
};

}  // namespace backplane
