#include "client/call_deadlines.hpp"

#include <algorithm>

namespace backplane {

CallDeadlines::Clock::time_point CallDeadlines::due(const RemoteCall& call) {
  const HttpCall& request = call.request();
  return call.was_sent() ? request.deadline : std::min(request.deadline, request.send_by);
}

void CallDeadlines::put(const RemoteCallRef& call) {
  const auto when = due(*call);
  if (when == Clock::time_point::max()) return;
  call->use_deadline(calls_, calls_->emplace_hint(calls_->end(), when, call));  // the hint: the newest deadline is mostly the last one
}

void CallDeadlines::add(const RemoteCallRef& call) {
  if (call->over()) return;
  put(call);
  if (!calls_->empty() && calls_->begin()->first < armed_) arm();
}

// Sets the timer for the earliest deadline.
void CallDeadlines::arm() {
  if (cancel_timer_) cancel_timer_();
  cancel_timer_ = nullptr;
  armed_ = calls_->empty() ? Clock::time_point::max() : calls_->begin()->first;
  if (calls_->empty()) return;
  cancel_timer_ = loop_.after(armed_ - Clock::now(), [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->tick();
  });
}

void CallDeadlines::tick() {
  const auto now = Clock::now();
  while (!calls_->empty() && calls_->begin()->first <= now) {
    const RemoteCallRef late = calls_->begin()->second.lock();
    if (late == nullptr || late->over()) {
      calls_->erase(calls_->begin());
      continue;
    }
    if (due(*late) > now) {  // it was sent in time
      late->forget_deadline();
      put(late);
      continue;
    }
    late->leave_carrier();
    late->fail(Status(Reason::kTimeout, "context deadline exceeded"));  // also removes its entry from calls_
  }
  arm();
}

}  // namespace backplane
