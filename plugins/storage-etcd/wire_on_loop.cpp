#include "wire_on_loop.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <exception>
#include <utility>

namespace backplane::etcd {

void WireOnLoop::add(User& user) {
  users_.push_back(&user);
  look_by(user.look(Clock::now()));
}

// ---- sockets

// A socket that the system has no room to watch hears nothing, and is given up when its time is over.
void WireOnLoop::watch(int socket, User& user, bool writes) {
  auto watched = std::make_shared<Watched>();
  try {
    watched->events = loop_.watch(socket);
  } catch (const std::exception&) {
    return;
  }
  watched->user = &user;
  watched_.insert_or_assign(socket, watched);
  wait_to_read(socket, watched);
  want_to_write(socket, writes);
}

void WireOnLoop::change(int socket, User&, bool writes) {
  if (current_executor() == &loop_) return want_to_write(socket, writes);
  loop_.post([self = shared_from_this(), socket, writes] { self->want_to_write(socket, writes); });
}

void WireOnLoop::want_to_write(int socket, bool wants) {
  const auto found = watched_.find(socket);
  if (found == watched_.end()) return;
  found->second->wants_to_write = wants;
  if (wants) wait_to_write(socket, found->second);
}

// What is being told may still hold it: the watch goes here and now, before its socket is closed and another one has its number.
void WireOnLoop::forget(int socket) {
  const auto found = watched_.find(socket);
  if (found == watched_.end()) return;
  const WatchedRef gone = found->second;
  watched_.erase(found);
  gone->events.reset();
}

void WireOnLoop::wait_to_read(int socket, const WatchedRef& watched) {
  watched->events->when_readable([weak = weak_from_this(), socket, still = std::weak_ptr<Watched>(watched)] {
    const auto self = weak.lock();
    const auto here = still.lock();
    if (self && here && self->tell(socket, here, EPOLLIN)) self->wait_to_read(socket, here);
  });
}

void WireOnLoop::wait_to_write(int socket, const WatchedRef& watched) {
  if (std::exchange(watched->waits_to_write, true)) return;
  watched->events->when_writable([weak = weak_from_this(), socket, still = std::weak_ptr<Watched>(watched)] {
    const auto self = weak.lock();
    const auto here = still.lock();
    if (!self || !here) return;
    here->waits_to_write = false;
    if (self->tell(socket, here, EPOLLOUT) && here->wants_to_write) self->wait_to_write(socket, here);
  });
}

// Whether it is still watched afterwards.
bool WireOnLoop::tell(int socket, const WatchedRef& watched, std::uint32_t events) {
  User& user = *watched->user;
  user.ready(events);
  const auto found = watched_.find(socket);
  if (found == watched_.end() || found->second != watched) return false;
  look_by(user.look(Clock::now()));
  return true;
}

// ---- time

void WireOnLoop::look_by(Clock::time_point due) {
  if (current_executor() != &loop_) {
    loop_.post([self = shared_from_this(), due] { self->look_by(due); });
    return;
  }
  if (due >= sleeps_until_) return;
  sleeps_until_ = due;
  if (cancel_alarm_) cancel_alarm_();
  cancel_alarm_ = loop_.after(std::max<Clock::duration>(due - Clock::now(), Clock::duration::zero()), [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->look();
  });
}

void WireOnLoop::look() {
  sleeps_until_ = Clock::time_point::max();
  auto due = Clock::time_point::max();
  for (User* user : std::vector<User*>(users_)) due = std::min(due, user->look(Clock::now()));
  look_by(due);
}

}  // namespace backplane::etcd
