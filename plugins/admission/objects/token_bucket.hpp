// A token bucket: up to `burst` events at once, `per_second` on average (golang.org/x/time/rate).
//
// Thread-safety: none; the owner locks.
#pragma once

#include <algorithm>
#include <chrono>

namespace backplane::admission::objects {

class TokenBucket {
 public:
  using Time = std::chrono::steady_clock::time_point;
  // A full bucket. `now`: any time not after the first take().
  TokenBucket(double per_second, double burst, Time now) noexcept : per_second_(per_second), burst_(burst), tokens_(burst), filled_(now) {}

  // Takes one token; false if there is none.
  bool take(Time now) noexcept {
    const double elapsed = std::chrono::duration<double>(now - filled_).count();
    const double tokens = std::min(burst_, tokens_ + std::max(elapsed, 0.0) * per_second_);
    if (tokens < 1) return false;
    tokens_ = tokens - 1;
    filled_ = now;
    return true;
  }

 private:
  double per_second_;
  double burst_;
  double tokens_;
  Time filled_;
};

}  // namespace backplane::admission::objects
