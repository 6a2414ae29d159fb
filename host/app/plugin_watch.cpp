#include "app/plugin_watch.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "app/log.hpp"
#include "backplane/core/server_slot.hpp"

namespace backplane {
namespace {

constexpr std::chrono::milliseconds kSettled{150};
constexpr std::uint32_t kEvents = IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE;

}  // namespace

PluginWatch::PluginWatch(const std::vector<std::string>& directories, std::function<void(const std::string&)> changed)
    : changed_(std::move(changed)), events_(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)), stop_(eventfd(0, EFD_CLOEXEC)) {
  for (const auto& directory : directories) {
    const int watch = inotify_add_watch(events_, directory.c_str(), kEvents | IN_ONLYDIR);
    if (watch >= 0) {
      directories_[watch] = directory;
    } else {
      app_log().warn("a plugin directory cannot be watched, its files are not loaded when they change directory={} error={}", directory,
                     std::strerror(errno));
    }
  }
  thread_ = std::thread([this, slot = current_server_slot()] {
    const ServerScope server(slot);
    run();
  });
}

PluginWatch::~PluginWatch() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(stop_, &one, sizeof one);
  thread_.join();
  ::close(events_);
  ::close(stop_);
}

int PluginWatch::poll_timeout() const {
  if (awaited_.empty()) return -1;
  const auto next = std::min_element(awaited_.begin(), awaited_.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(next->second - Clock::now());
  return static_cast<int>(std::max<std::int64_t>(0, left.count()));
}

void PluginWatch::run() {
  for (;;) {
    pollfd wait_for[] = {{stop_, POLLIN, 0}, {events_, POLLIN, 0}};
    const int ready = ::poll(wait_for, 2, poll_timeout());
    if (ready < 0 && errno != EINTR) return;
    if (wait_for[0].revents != 0) return;
    if (ready > 0 && wait_for[1].revents != 0) read_events();
    report_settled();
  }
}

// Each event of a file (created, closed after a write, moved) defers its report by kSettled.
void PluginWatch::read_events() {
  alignas(inotify_event) char buffer[16 * 1024];
  for (;;) {
    const ssize_t size = ::read(events_, buffer, sizeof buffer);
    if (size <= 0) return;
    for (ssize_t at = 0; at < size;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer + at);
      at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
      const auto directory = directories_.find(event->wd);
      if (event->len == 0 || directory == directories_.end()) continue;
      const std::string name = event->name;
      if (name.ends_with(".so") && !name.starts_with('.')) awaited_[directory->second + "/" + name] = Clock::now() + kSettled;
    }
  }
}

void PluginWatch::report_settled() {
  const auto now = Clock::now();
  for (auto file = awaited_.begin(); file != awaited_.end();) {
    if (file->second > now) {
      ++file;
      continue;
    }
    const std::string path = file->first;
    file = awaited_.erase(file);
    changed_(path);
  }
}

}  // namespace backplane
