#include "wire_on_loop.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <utility>

namespace backplane::etcd {

void WireOnLoop::add(User& user) {
  users_.push_back(&user);
  look_by(user.look(Clock::now()));
}

// ---- sockets

void WireOnLoop::watch(int socket, User& user, bool writes) {
  const auto watched = std::make_shared<Watched>(Watched{loop_.watch(socket), &user, false});
  watched_.insert_or_assign(socket, watched);
  wait_to_read(socket, watched);
  if (writes) wait_to_write(socket, watched);
}

// It waits once: nothing has to be taken back.
void WireOnLoop::change(int socket, User&, bool writes) {
  if (!writes) return;
  if (current_executor() == &loop_) return ask_to_write(socket);
  loop_.post([self = shared_from_this(), socket] { self->ask_to_write(socket); });
}

void WireOnLoop::ask_to_write(int socket) {
  const auto found = watched_.find(socket);
  if (found != watched_.end()) wait_to_write(socket, found->second);
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
    self->tell(socket, here, EPOLLOUT);
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
