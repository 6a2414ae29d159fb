// Rate limit of one repeated log line: the first line is logged at once, then one line per interval, with the number of suppressed lines.
//
// Thread-safety: any thread.
// Errors:        none.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// One LogLimit per log line that can repeat (usually a static or a member next to the code that logs).
//
//   if (const auto suppressed = limit_.admit()) {
//     logger.warn("cannot write lease error=" + why + " suppressed=" + std::to_string(*suppressed));
//   }
class LogLimit {
 public:
  using Clock = std::chrono::steady_clock;
  // `interval`: the shortest time between two logged lines.
  explicit LogLimit(std::chrono::seconds interval = std::chrono::minutes(1)) : interval_(interval) {}
  // Returns the number of lines suppressed since the last logged line if the line may be logged now; nullopt if it must not be logged. Only
  // tests pass `now`.
  std::optional<std::uint64_t> admit(Clock::time_point now = Clock::now()) {
    const std::lock_guard lock(mutex_);
    if (next_ > now) {
      ++suppressed_;
      return std::nullopt;
    }
    next_ = now + interval_;
    return std::exchange(suppressed_, 0);
  }

 private:
  const std::chrono::seconds interval_;
  std::mutex mutex_;
  Clock::time_point next_ = Clock::time_point::min();
  std::uint64_t suppressed_ = 0;
};

}  // namespace BACKPLANE_API
