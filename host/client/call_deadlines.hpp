// Ends calls whose deadline has passed. All calls of a RemotePool share one timer, which is set to the earliest deadline. A new call rarely
// sets the timer again, because its deadline is mostly later.
//
// Thread-safety: the loop only.
// Lifetime:      owned by a RemotePool. The calls share the map of deadlines, which has weak references to the calls.
// Errors:        a call whose deadline has passed fails with kTimeout "context deadline exceeded". So does a call that was not sent by its
//                send_by.
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
  Clock::time_point armed_ = Clock::time_point::max();  // when the timer fires; max() if it is not set
  std::function<void()> cancel_timer_;
};

}  // namespace backplane
