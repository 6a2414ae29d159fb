// Ends calls whose time is up: one timer for all calls of a loop, which is seldom touched since most end long before.
//
// Thread-safety: the loop only.
// Lifetime:      kept by the calls it holds; a call that is over is let go of.
// Errors:        a late call fails with kTimeout "context deadline exceeded"; so does a call that was not sent by its send_by.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "base/io_loop.hpp"
#include "client/remote_session.hpp"

namespace backplane {

class CallDeadlines : public std::enable_shared_from_this<CallDeadlines> {
 public:
  explicit CallDeadlines(IoLoop& loop) : loop_(loop) {}
  void add(const RemoteCallRef& call);

 private:
  using Clock = std::chrono::steady_clock;
  static Clock::time_point due(const RemoteCall& call);
  void put(const RemoteCallRef& call);
  void arm();
  void tick();

  IoLoop& loop_;
  const std::shared_ptr<RemoteCall::Deadlines> calls_ = std::make_shared<RemoteCall::Deadlines>();
  Clock::time_point armed_ = Clock::time_point::max();  // the timer's end; max: there is none
  std::function<void()> cancel_timer_;
};

}  // namespace backplane
