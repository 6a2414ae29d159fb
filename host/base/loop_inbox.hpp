// The queue of work that other threads post to a loop. An eventfd wakes the loop when the first piece of work is added. asio::post() is not
// used, because it wakes the loop while it holds the lock of Asio's queue, and the woken thread then waits for that lock.
//
// Thread-safety: post() from any thread; the constructor and the destructor on the loop's thread, or while the loop does not run.
// Lifetime:      destroyed before its io_context. Work that has not run is destroyed with the inbox. A call of post() may still be
//                returning when the inbox is destroyed.
// Errors:        the constructor throws std::system_error if it gets no descriptor.
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
    std::coroutine_handle<> frame;  // null: run `work`
    std::function<void()> work;
  };

  void put(Item item);
  void wait();
  void run_all();
  void requeue(std::size_t first);

  std::shared_ptr<const Signal> signal_;  // a thread in post() holds a reference
  boost::asio::posix::stream_descriptor descriptor_;
  std::uint64_t count_ = 0;    // the value read from the eventfd; not used
  std::vector<Item> running_;  // the work that the loop is running; used by the loop's thread only
  std::mutex mutex_;           // guards the two members below
  std::vector<Item> items_;
  bool signalled_ = false;  // the eventfd has been signalled for items_
};

}  // namespace backplane
