// The health check `log`: fails if logging is blocked. If the reader of standard error stops reading, each log line blocks its writer.
//
// Thread-safety: check() from any thread.
// Lifetime:      the check owns its thread, which starts with the first call of check() and ends when the object is destroyed.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "backplane/points/hooks.hpp"

namespace backplane {

struct LogCheckConfig {
  std::function<void()> flush;  // returns when all logged lines have been written; may block
  std::function<std::chrono::steady_clock::time_point()> now = &std::chrono::steady_clock::now;
  // The values of upstream's healthz.LogHealthz.
  std::chrono::nanoseconds interval = std::chrono::minutes(1);
  std::chrono::nanoseconds limit = std::chrono::minutes(2);
};

// Fails with "logging blocked" if the last flush that returned is longer ago than the limit.
std::shared_ptr<HealthCheck> make_log_check(LogCheckConfig config);

}  // namespace backplane
