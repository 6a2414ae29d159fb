// The circuit breaker of one webhook: after a number of failed calls in a row, calls fail at once, until a probe succeeds.
//
//   closed ──(failures in a row)──► open ──(pause)──► one probe ──succeeds──► closed
//                                     ▲───────────────────┘ fails: the pause doubles, up to kLongestPause
//
// Calls that a request's deadline or the budget of its webhooks ends do not count as failures.
// Disabled unless WebhookAdmissionConfiguration sets circuitBreakerFailures, because kube-apiserver makes every call.
// Thread-safety: every method from any thread.
// Errors:        none.
#pragma once

#include <chrono>
#include <mutex>

namespace backplane::admission::webhooks {

class CircuitBreaker {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kFirstPause{1};
  static constexpr std::chrono::seconds kLongestPause{30};

  // `failures`: calls in a row that must fail; at least 1.
  explicit CircuitBreaker(int failures) : limit_(failures) {}

  // False: the call must fail without being made. True: the caller makes it and reports its end with ended().
  bool enter(Clock::time_point now);
  enum class Change : unsigned char { kNone, kOpened, kClosed };
  // `failed`: the call had no usable response. A rejection of the request is a success.
  Change ended(bool failed, Clock::time_point now);
  bool open() const;

 private:
  const int limit_;
  mutable std::mutex mutex_;
  int failures_ = 0;
  bool open_ = false;
  std::chrono::seconds pause_ = kFirstPause;
  Clock::time_point next_probe_;
};

}  // namespace backplane::admission::webhooks
