#include "app/stop_deadline.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>

#include "app/log.hpp"
#include "plugin/plugin_code.hpp"

namespace backplane {
namespace {

// The time that a thread gets to report its stack. If it does not respond, the log has no stack of it.
constexpr std::chrono::milliseconds kSampleTimeout{200};

[[noreturn]] void leave() {
  flush_logs();
  std::_Exit(1);
}

// True when `descriptor` became readable in time; -1: no limit.
bool readable(int descriptor, std::chrono::milliseconds limit) {
  pollfd poll_for{descriptor, POLLIN, 0};
  int ready = 0;
  while ((ready = poll(&poll_for, 1, static_cast<int>(limit.count()))) < 0 && errno == EINTR) {
  }
  return ready > 0;
}

// True if `stop` fired first.
bool stopped_before(int stop, int other) {
  pollfd poll_for[] = {{stop, POLLIN, 0}, {other, POLLIN, 0}};
  while (poll(poll_for, 2, -1) < 0 && errno == EINTR) {
  }
  return poll_for[1].revents == 0;
}

}  // namespace

LoadDeadline::LoadDeadline(const StopEvent& stop, std::chrono::milliseconds limit)
    : stop_(stop), limit_(limit), loaded_(eventfd(0, EFD_CLOEXEC)), thread_([this] { watch(); }) {}

LoadDeadline::~LoadDeadline() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(loaded_, &one, sizeof one);
  thread_.join();
  close(loaded_);
}

void LoadDeadline::watch() {
  if (!stopped_before(stop_.descriptor(), loaded_)) return;
  while (!readable(loaded_, limit_)) {
    const auto call = running_lifecycle_call();
    if (!call) continue;
    app_log().critical("asked to stop while a plugin call does not return, exiting with code 1 plugin={} call={}", call->plugin,
                       call->call);
    leave();
  }
}

ShutdownDeadline::ShutdownDeadline(std::chrono::nanoseconds limit)
    : thread_([this, limit] {
        std::unique_lock lock(mutex_);
        if (condition_.wait_for(lock, limit, [this] { return ended_; })) return;
        const auto stuck = threads_in_plugins(kSampleTimeout);
        for (const auto& each : stuck) {
          app_log().critical("the shutdown does not end, a thread is running plugin code plugin={} thread={} place={}", each.plugin,
                             each.thread, each.place);
        }
        app_log().critical("the shutdown has not ended, exiting with code 1 limit={}s",
                           std::chrono::duration_cast<std::chrono::seconds>(limit).count());
        leave();
      }) {}

ShutdownDeadline::~ShutdownDeadline() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  condition_.notify_all();
  thread_.join();
}

}  // namespace backplane
