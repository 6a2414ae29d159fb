// Limits how often a controller writes the same value to the same object.
//
// Two servers on one store with different configuration would overwrite each other's value without end. A controller may write a value
// kAtOnce times without a pause, then after kFirst, then after twice the previous pause, up to kLongest. Another value, or kQuiet without
// a write, resets this, so that a user's change is reverted at once.
// Thread-safety: one executor.
// Lifetime:      a member of the controller. It retains at most kMostKeys keys, plus those whose pause has not ended.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "backplane/core/visibility.hpp"

namespace backplane {
namespace kit BACKPLANE_API {

// Keys are chosen by the controller; values are compared by their hash.
//
//   const auto pause = pauses_.claim(key, wanted);
//   if (pause.count() > 0) queue_->add_after(key, pause); else write(key, wanted);
class RewritePause {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr int kAtOnce = 2;
  // Pauses after kAtOnce writes (kFirst, doubled up to kLongest), and the time without writes that resets them (kQuiet).
  static constexpr std::chrono::seconds kFirst{10}, kLongest{600}, kQuiet{60};
  static constexpr std::size_t kMostKeys = 4096;

  // `now` is for tests.
  explicit RewritePause(std::function<Clock::time_point()> now = Clock::now) : now_(std::move(now)) {}

  // 0: the controller may set `key` to `value` now; this counts as a write. Otherwise: the time after which to call it again.
  std::chrono::nanoseconds claim(const std::string& key, std::string_view value);

 private:
  struct Entry {
    std::size_t value = 0;  // its hash
    int writes = 0;
    Clock::time_point last;
  };
  void drop_old(Clock::time_point now);

  const std::function<Clock::time_point()> now_;
  std::map<std::string, Entry> entries_;
};

}  // namespace BACKPLANE_API
}  // namespace backplane
