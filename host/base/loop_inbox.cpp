#include "base/loop_inbox.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/posted_work.hpp"

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

LoopInbox::LoopInbox(asio::io_context& context, const std::string& loop)
    : loop_(loop), signal_(std::make_shared<const Signal>()), descriptor_(context, signal_->descriptor()) {
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

// Runs the queued work.
void LoopInbox::run_all() {
  {
    const std::lock_guard lock(mutex_);
    signalled_ = false;
    running_.swap(items_);
  }
  for (Item& each : running_) {
    const Item item = std::move(each);
    if (item.frame) {
      run_posted(loop_, item.frame);
    } else {
      run_posted(loop_, item.work);
    }
  }
  running_.clear();
}

}  // namespace backplane
