#include "filters/wait_group.hpp"

#include <algorithm>

namespace backplane {
namespace {
std::int64_t now_ns() { return std::chrono::steady_clock::now().time_since_epoch().count(); }
}  // namespace

bool WaitGroup::try_add() noexcept {
  const auto before = state_.fetch_add(1, std::memory_order_acq_rel);
  if ((before & kWaiting) == 0) return true;
  done();
  return false;
}

void WaitGroup::done() {
  const auto before = state_.fetch_sub(1, std::memory_order_acq_rel);
  if (before == (kWaiting | 1)) drained_.fire();
}

void WaitGroup::start_waiting() {
  const auto before = state_.fetch_or(kWaiting, std::memory_order_acq_rel);
  if ((before & ~kWaiting) == 0) drained_.fire();
}

void PacedWaitGroup::start_waiting(std::chrono::nanoseconds grace) {
  const double seconds = std::max(std::chrono::duration<double>(grace).count(), 1e-3);
  const double per_second = std::max(kFloorPerSecond, static_cast<double>(count()) / seconds);
  const std::int64_t now = now_ns();
  next_turn_ns_.store(now);
  end_ns_.store(now + grace.count());
  interval_ns_.store(static_cast<std::int64_t>(1e9 / per_second));
  group_.start_waiting();
}

Task<void> PacedWaitGroup::wait_turn() {
  const std::int64_t interval = interval_ns_.load();
  if (interval == 0) co_return;
  const std::int64_t turn = std::min(next_turn_ns_.fetch_add(interval), end_ns_.load());
  const std::int64_t wait = turn - now_ns();
  if (wait > 0 && current_executor() != nullptr) co_await sleep_for(std::chrono::nanoseconds(wait));
}

}  // namespace backplane
