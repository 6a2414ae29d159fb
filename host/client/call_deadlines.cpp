#include "client/call_deadlines.hpp"

namespace backplane {

void CallDeadlines::add(const RemoteCallRef& call) {
  if (call->request().deadline == Clock::time_point::max() || call->over()) return;
  const auto place = calls_.emplace(call->request().deadline, call);
  call->on_over = [self = shared_from_this(), place] { self->calls_.erase(place); };
  if (place->first < armed_) arm();
}

// For the first of them.
void CallDeadlines::arm() {
  if (cancel_timer_) cancel_timer_();
  cancel_timer_ = nullptr;
  armed_ = calls_.empty() ? Clock::time_point::max() : calls_.begin()->first;
  if (calls_.empty()) return;
  cancel_timer_ = loop_.after(armed_ - Clock::now(), [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->tick();
  });
}

void CallDeadlines::tick() {
  const auto now = Clock::now();
  while (!calls_.empty() && calls_.begin()->first <= now) {
    const RemoteCallRef late = calls_.begin()->second.lock();
    if (late == nullptr || late->over()) {
      calls_.erase(calls_.begin());
      continue;
    }
    if (late->on_cancel) late->on_cancel();
    late->fail(Status(Reason::kTimeout, "context deadline exceeded"));  // and is let go of
  }
  arm();
}

}  // namespace backplane
