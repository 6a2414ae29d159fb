#include "filters/request_metrics.hpp"

#include <algorithm>

namespace backplane {

std::size_t RequestMetrics::verb_index(std::string_view verb) noexcept {
  const auto same = [&](std::string_view label) {
    return std::equal(label.begin(), label.end(), verb.begin(), verb.end(), [](char upper, char lower) {
      return upper == (lower >= 'a' && lower <= 'z' ? static_cast<char>(lower - 'a' + 'A') : lower);
    });
  };
  const auto found = std::find_if(kVerbs.begin(), kVerbs.end(), same);
  return found == kVerbs.end() ? kVerbs.size() - 1 : static_cast<std::size_t>(found - kVerbs.begin());
}

void RequestMetrics::count(std::string_view verb, int code, std::chrono::nanoseconds took) noexcept {
  const std::size_t row = verb_index(verb);
  const int column = std::clamp(code - kFirstCode, 0, kCodes - 1);
  totals_[row][static_cast<std::size_t>(column)].fetch_add(1, std::memory_order_relaxed);
  latencies_[row].observe(took);
}

void RequestMetrics::reset() {
  for (auto& row : totals_) {
    for (auto& total : row) total.store(0, std::memory_order_relaxed);
  }
  for (auto& latency : latencies_) latency.reset();
  access.reset();
}

}  // namespace backplane
