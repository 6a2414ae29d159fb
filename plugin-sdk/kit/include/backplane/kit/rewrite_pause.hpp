// Limits how often a controller writes the same value to the same object.
//
// If two servers use the same store with different configurations, their controllers would overwrite each other's values endlessly. With
// this class, a controller writes the same value to an object kAtOnce times without a pause, then after a pause of kFirst, and then after
// twice the previous pause, up to kLongest. A different value resets the pauses, so that a change by a user is reverted at once. They are
// also reset if the value is not written for twice the current pause plus kQuiet.
//
// Thread-safety: one executor.
// Lifetime:      a member of the controller. It stores at most kMostKeys keys, plus those whose pauses have not been reset yet.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "backplane/core/visibility.hpp"

namespace backplane {
namespace kit BACKPLANE_API {

// The controller chooses the keys. Values are compared by their hashes.
//
//   const auto pause = pauses_.claim(key, wanted);
//   if (pause.count() > 0) queue_->add_after(key, pause); else write(key, wanted);
class RewritePause {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr int kAtOnce = 2;
  // The pauses after kAtOnce writes begin with kFirst and are doubled up to kLongest. kQuiet: part of the time that resets the pauses.
  static constexpr std::chrono::seconds kFirst{10}, kLongest{600}, kQuiet{60};
  static constexpr std::size_t kMostKeys = 4096;

  // Only tests pass `now`.
  explicit RewritePause(std::function<Clock::time_point()> now = Clock::now) : now_(std::move(now)) {}

  // Returns 0 if the controller may write `value` to `key` now; this counts as a write. Otherwise returns the time after which to call
  // claim() again.
  std::chrono::nanoseconds claim(const std::string& key, std::string_view value);

 private:
  struct Entry {
    std::size_t value = 0;  // the hash of the value
    int writes = 0;
    Clock::time_point last;
  };
  void drop_old(Clock::time_point now);

  const std::function<Clock::time_point()> now_;
  std::map<std::string, Entry> entries_;
};

}  // namespace BACKPLANE_API
}  // namespace backplane
