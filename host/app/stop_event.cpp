#include "app/stop_event.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>

namespace backplane {
namespace {

// The state of the signal handler: lock-free atomics only.
std::atomic<int> g_stop_fd{-1};
std::atomic<int> g_signals{0};

void wake(int fd) {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(fd, &one, sizeof one);
}

void on_signal(int) {
  const int saved = errno;
  if (g_signals.fetch_add(1) > 0) _exit(1);
  wake(g_stop_fd.load());
  errno = saved;
}

}  // namespace

StopEvent::StopEvent() : fd_(eventfd(0, EFD_CLOEXEC)) {
  if (fd_ < 0) std::abort();
}

StopEvent::~StopEvent() {
  int own = fd_;
  if (g_stop_fd.compare_exchange_strong(own, -1)) g_signals.store(0);
  close(fd_);
}

void StopEvent::request() { wake(fd_); }

void StopEvent::install_signal_handlers() {
  int expected = -1;
  if (!g_stop_fd.compare_exchange_strong(expected, fd_)) std::abort();  // the only server of the process that handles signals
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
  // A write to a closed connection, or to a file at its size limit (ulimit -f), returns an error instead of ending the process.
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
}

void StopEvent::wait() {
  pollfd poll_for{fd_, POLLIN, 0};
  while (poll(&poll_for, 1, -1) < 0 && errno == EINTR) {
  }
}

}  // namespace backplane
