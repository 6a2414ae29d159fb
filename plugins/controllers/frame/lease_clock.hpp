// Computes the time until which a lease is held.
//
// Thread-safety: one executor.
// Errors:        none; a lease without a holder or without times is not held.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "backplane/core/json.hpp"

namespace backplane::controllers {

// Observes one Lease. Its holder is alive if renewTime is recent by this machine's clock, or if the lease has changed within its duration
// while it was observed, so that a wrong clock alone does not decide.
class LeaseClock {
 public:
  using Clock = std::chrono::steady_clock;
  // `lease`: null if there is none. `now_unix`: seconds since the epoch.
  void observe(const Object* lease, Clock::time_point now, double now_unix);
  // Returns how long the lease is still held; zero if it is not held.
  std::chrono::nanoseconds left(Clock::time_point now) const;
  const std::string& holder() const noexcept { return holder_; }

 private:
  std::string holder_, seen_;
  std::optional<Clock::time_point> until_;
};

// Returns the current time in seconds since the epoch.
double unix_now();

}  // namespace backplane::controllers
