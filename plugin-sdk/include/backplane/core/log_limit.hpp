// Of a log line that would be repeated: the first at once, then one an interval, with the number of those between.
//
// Thread-safety: any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

class LogLimit {
 public:
  using Clock = std::chrono::steady_clock;
  explicit LogLimit(std::chrono::seconds interval = std::chrono::minutes(1)) : interval_(interval) {}
  // How many lines were suppressed since the last one; nothing: this line is suppressed.
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
