// The time of a webhook's last response, of any kind: a webhook that has responded recently is available, even if one call hangs.
//
// Thread-safety: any thread.
#pragma once

#include <atomic>
#include <chrono>

namespace backplane::admission::webhooks {

class AnswerClock {
 public:
  using Clock = std::chrono::steady_clock;
  // Longer than the usual pauses between calls of a webhook, and short enough for a cluster that cannot create pods meanwhile.
  static constexpr std::chrono::seconds kAlive{30};

  void mark(Clock::time_point now) noexcept { last_.store(now, std::memory_order_relaxed); }
  bool alive(Clock::time_point now) const noexcept {
    const Clock::time_point last = last_.load(std::memory_order_relaxed);
    return last != Clock::time_point() && now - last < kAlive;
  }

 private:
  std::atomic<Clock::time_point> last_{Clock::time_point()};
};

}  // namespace backplane::admission::webhooks
