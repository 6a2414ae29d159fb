#include "frame/lease_clock.hpp"

#include <algorithm>

#include "backplane/core/json_access.hpp"
#include "backplane/core/meta.hpp"

namespace backplane::controllers {
namespace {

constexpr std::int64_t kDefaultDuration = 15;  // --leader-elect-lease-duration of kube-controller-manager
constexpr std::int64_t kLongestDuration = 86'400;

}  // namespace

double unix_now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

void LeaseClock::observe(const Object* lease, Clock::time_point now, double now_unix) {
  static const Object kNone;
  const Object& spec = object_or_empty(lease != nullptr ? *lease : kNone, "spec");
  holder_ = get_string(spec, "holderIdentity");
  if (holder_.empty()) {
    seen_.clear();
    until_.reset();
    return;
  }
  const std::string renewed(get_string(spec, "renewTime"));
  const std::int64_t duration =
      std::clamp<std::int64_t>(get_int(spec, "leaseDurationSeconds").value_or(kDefaultDuration), 1, kLongestDuration);
  const std::string state = holder_ + "\n" + renewed;
  if (state == seen_) return;
  const auto since = parse_rfc3339(renewed);
  // The first observation does not show the time of the change, so only the recorded time counts.
  const double age = since && seen_.empty() ? std::max(0.0, now_unix - static_cast<double>(*since)) : 0.0;
  const bool known = since || !seen_.empty();
  const auto left = std::chrono::duration<double>(static_cast<double>(duration) - age);
  until_ = known ? now + std::chrono::duration_cast<std::chrono::nanoseconds>(left) : now;
  seen_ = state;
}

std::chrono::nanoseconds LeaseClock::left(Clock::time_point now) const {
  if (!until_ || *until_ <= now) return std::chrono::nanoseconds::zero();
  return *until_ - now;
}

}  // namespace backplane::controllers
