#include "wire_thread.hpp"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace backplane::etcd {
namespace {

constexpr std::chrono::hours kLong{1};
constexpr int kEvents = 16;

}  // namespace

WireThread::WireThread() : poll_(epoll_create1(EPOLL_CLOEXEC)), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = nullptr;
  epoll_ctl(poll_, EPOLL_CTL_ADD, wake_, &event);
  thread_ = std::thread([this] { run(); });
}

WireThread::~WireThread() {
  stop();
  close(poll_);
  close(wake_);
}

void WireThread::stop() {
  stopping_.store(true);
  wake();
  if (!thread_.joinable()) return;
  thread_.join();
  std::vector<std::function<void()>> dropped;
  std::multimap<Clock::time_point, Alarm> silent;
  const std::lock_guard lock(mutex_);  // given back before they go
  dropped.swap(posted_);
  silent.swap(alarms_);
}

void WireThread::wake() const {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(wake_, &one, sizeof one);
}

void WireThread::post(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
    posted_.push_back(std::move(work));
    if (posted_.size() > 1) return;  // it has been woken
  }
  wake();
}

std::uint64_t WireThread::after(std::chrono::milliseconds delay, std::function<void()> work) {
  const auto due = Clock::now() + delay;
  std::uint64_t id = 0;
  {
    const std::lock_guard lock(mutex_);
    id = ++last_alarm_;
    if (stopped_) return id;
    alarms_.emplace(due, Alarm{id, std::move(work)});
  }
  look_by(due);
  return id;
}

void WireThread::at_once(std::uint64_t alarm) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(alarms_.begin(), alarms_.end(), [alarm](const auto& each) { return each.second.id == alarm; });
    if (found == alarms_.end()) return;
    Alarm rung = std::move(found->second);
    alarms_.erase(found);
    alarms_.emplace(Clock::time_point(), std::move(rung));
  }
  wake();
}

void WireThread::look_by(Clock::time_point due) {
  if (due.time_since_epoch().count() < sleeps_until_.load()) wake();
}

void WireThread::add(User& user) {
  const std::lock_guard lock(mutex_);
  users_.push_back(&user);
}

void WireThread::watch(int socket, User& user, bool writes) {
  epoll_event event{};
  event.events = EPOLLIN | (writes ? static_cast<std::uint32_t>(EPOLLOUT) : 0U);
  event.data.ptr = &user;
  epoll_ctl(poll_, EPOLL_CTL_ADD, socket, &event);
}

void WireThread::change(int socket, User& user, bool writes) {
  epoll_event event{};
  event.events = EPOLLIN | (writes ? static_cast<std::uint32_t>(EPOLLOUT) : 0U);
  event.data.ptr = &user;
  epoll_ctl(poll_, EPOLL_CTL_MOD, socket, &event);
}

void WireThread::forget(int socket) { epoll_ctl(poll_, EPOLL_CTL_DEL, socket, nullptr); }

// Milliseconds of sleep, rounded up.
int WireThread::wait_for() const {
  const Clock::time_point until{Clock::duration(sleeps_until_.load())};
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
  return static_cast<int>(std::max<std::int64_t>(left.count(), 0));
}

bool WireThread::run_posted() {
  std::vector<std::function<void()>> posted;
  {
    const std::lock_guard lock(mutex_);
    posted.swap(posted_);
  }
  for (auto& work : posted) work();
  return !posted.empty();
}

void WireThread::run_alarms() {
  const auto now = Clock::now();
  std::vector<Alarm> due;
  {
    const std::lock_guard lock(mutex_);
    while (!alarms_.empty() && alarms_.begin()->first <= now) {
      due.push_back(std::move(alarms_.begin()->second));
      alarms_.erase(alarms_.begin());
    }
  }
  for (auto& alarm : due) alarm.work();
}

void WireThread::run() {
  pthread_setname_np(pthread_self(), "etcd");
  std::array<epoll_event, kEvents> events{};
  std::vector<User*> users;
  Clock::time_point look_at{};
  while (!stopping_.load()) {
    auto until = look_at;
    {
      const std::lock_guard lock(mutex_);
      if (!alarms_.empty()) until = std::min(until, alarms_.begin()->first);
    }
    sleeps_until_.store(until.time_since_epoch().count());
    const int count = epoll_wait(poll_, events.data(), kEvents, wait_for());
    // Whoever has something to be looked at from here on wakes it.
    sleeps_until_.store(Clock::time_point::max().time_since_epoch().count());
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = events.at(static_cast<std::size_t>(i));
      if (event.data.ptr != nullptr) {
        static_cast<User*>(event.data.ptr)->ready(event.events);
        continue;
      }
      std::uint64_t times = 0;
      [[maybe_unused]] const auto taken = read(wake_, &times, sizeof times);
    }
    run_posted();
    run_alarms();
    const auto now = Clock::now();
    if (count > 0 || now >= look_at) {
      look_at = now + kLong;
      {
        const std::lock_guard lock(mutex_);
        users = users_;
      }
      for (User* user : users) look_at = std::min(look_at, user->look(now));
    }
  }
  // Those who wait are told.
  while (run_posted()) {
  }
  const std::lock_guard lock(mutex_);
  stopped_ = true;
}

}  // namespace backplane::etcd
