#include "filters/access_metrics.hpp"

#include <algorithm>

namespace backplane {
namespace {

// Like upstream's compressUsername: the name of an ordinary user never becomes a label.
std::size_t user_index(std::string_view user) noexcept {
  constexpr auto& kUsers = AccessMetrics::kUsers;
  constexpr std::size_t kNamed = kUsers.size() - 2;
  const auto end = kUsers.begin() + kNamed;
  const auto found = std::find(kUsers.begin(), end, user);
  if (found != end) return static_cast<std::size_t>(found - kUsers.begin());
  return user.find('@') != std::string_view::npos ? kNamed : kNamed + 1;
}

}  // namespace

void AccessMetrics::authenticated(Authentication result, std::chrono::nanoseconds took, std::string_view user) noexcept {
  authentications_[result].observe(took);
  filters_[0].observe(took);
  if (result == kSuccess) users_[user_index(user)].fetch_add(1, std::memory_order_relaxed);
}

void AccessMetrics::authorized(Authorization result, std::chrono::nanoseconds took) noexcept {
  authorizations_[result].observe(took);
  filters_[1].observe(took);
}

void AccessMetrics::reset() {
  for (auto& each : authentications_) each.reset();
  for (auto& each : authorizations_) each.reset();
  for (auto& each : filters_) each.reset();
  for (auto& each : users_) each.store(0, std::memory_order_relaxed);
  for (auto& each : late_) each.store(0, std::memory_order_relaxed);
}

}  // namespace backplane
