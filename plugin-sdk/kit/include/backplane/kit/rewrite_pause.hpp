// How long a controller waits before it writes the same value to the same object once more.
//
// Two servers over one store that want an object otherwise overwrite each other for ever.  Each writes kAtOnce times without a pause, then
// after kFirst, then after twice that, up to kLongest.  A value that has not been written for a while, or another value, starts anew, so a
// change by a user is reverted at once.
// Thread-safety: one executor.
// Lifetime:      a member of the controller; it keeps kMostKeys keys at most, and those whose pause runs.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "backplane/core/visibility.hpp"

namespace backplane {
namespace kit BACKPLANE_API {

class RewritePause {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr int kAtOnce = 2;
  static constexpr std::chrono::seconds kFirst{10}, kLongest{600}, kQuiet{60};
  static constexpr std::size_t kMostKeys = 4096;

  explicit RewritePause(std::function<Clock::time_point()> now = Clock::now) : now_(std::move(now)) {}

  // Zero: `key` may be set to `value` now, which is noted as a write.  Otherwise ask again after that time.
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
