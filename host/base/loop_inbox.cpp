#include "base/loop_inbox.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <cerrno>
#include <iterator>
#include <system_error>
#include <utility>

namespace backplane {
namespace asio = boost::asio;

class LoopInbox::Signal {
 public:
  Signal() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
  }
  ~Signal() { ::close(descriptor_); }
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;

  int descriptor() const noexcept { return descriptor_; }
  void raise() const noexcept { (void)::eventfd_write(descriptor_, 1); }

 private:
  const int descriptor_;
};

LoopInbox::LoopInbox(asio::io_context& context) : signal_(std::make_shared<const Signal>()), descriptor_(context, signal_->descriptor()) {
  wait();
}

// The destructors of the remaining work may post more work.
LoopInbox::~LoopInbox() {
  descriptor_.release();
  for (;;) {
    std::vector<Item> left = std::exchange(running_, {});
    if (left.empty()) {
      const std::lock_guard lock(mutex_);
      left.swap(items_);
    }
    if (left.empty()) return;
  }
}

void LoopInbox::put(Item item) {
  std::shared_ptr<const Signal> signal;
  {
    const std::lock_guard lock(mutex_);
    items_.push_back(std::move(item));
    if (std::exchange(signalled_, true)) return;
    signal = signal_;
  }
  signal->raise();
}

// Starts an asynchronous read instead of a wait for readiness, which would call epoll_ctl() each time.
void LoopInbox::wait() {
  descriptor_.async_read_some(asio::buffer(&count_, sizeof count_), [this](boost::system::error_code error, std::size_t) {
    if (error) return;
    wait();
    run_all();
  });
}

// Runs the queued work. An exception of one item leaves io_context::run(); the items after it run when run() is called again.
void LoopInbox::run_all() {
  {
    const std::lock_guard lock(mutex_);
    signalled_ = false;
    running_.swap(items_);
  }
  std::size_t next = 0;
  try {
    while (next < running_.size()) {
      const Item item = std::move(running_[next++]);
      if (item.frame) {
        item.frame.resume();
      } else {
        item.work();
      }
    }
  } catch (...) {
    requeue(next);
    throw;
  }
  running_.clear();
}

void LoopInbox::requeue(std::size_t first) {
  {
    const std::lock_guard lock(mutex_);
    running_.erase(running_.begin(), running_.begin() + static_cast<std::ptrdiff_t>(first));
    running_.insert(running_.end(), std::make_move_iterator(items_.begin()), std::make_move_iterator(items_.end()));
    items_ = std::exchange(running_, {});
    if (items_.empty()) return;
    signalled_ = true;
  }
  signal_->raise();
}

}  // namespace backplane
