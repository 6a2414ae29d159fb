#include "webhooks/circuit_breaker.hpp"

#include <algorithm>

namespace backplane::admission::webhooks {

bool CircuitBreaker::enter(Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  if (!open_) return true;
  if (now < next_probe_) return false;
  // A probe that never ends must not keep the breaker open: the next one may start after another pause.
  next_probe_ = now + pause_;
  return true;
}

CircuitBreaker::Change CircuitBreaker::ended(bool failed, Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  if (!failed) {
    failures_ = 0;
    pause_ = kFirstPause;
    const bool was_open = open_;
    open_ = false;
    return was_open ? Change::kClosed : Change::kNone;
  }
  if (open_) {
    pause_ = std::min(pause_ * 2, kLongestPause);
    next_probe_ = now + pause_;
    return Change::kNone;
  }
  if (++failures_ < limit_) return Change::kNone;
  open_ = true;
  next_probe_ = now + pause_;
  return Change::kOpened;
}

bool CircuitBreaker::open() const {
  const std::lock_guard lock(mutex_);
  return open_;
}

}  // namespace backplane::admission::webhooks
