// Ranges of costs and sizes, and the arithmetic of upstream's estimates: sums and products stop at the largest number.
//
// Thread-safety: pure functions.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

namespace backplane::cel_detail {

inline constexpr std::uint64_t kNoBound = std::numeric_limits<std::uint64_t>::max();

inline constexpr double kTextFactor = 0.1;      // per character of a text that is read
inline constexpr double kPatternFactor = 0.25;  // per character of a pattern
inline constexpr std::uint64_t kListCost = 10, kMapCost = 30, kMessageCost = 40;

inline std::uint64_t bounded_sum(std::uint64_t a, std::uint64_t b) { return a > kNoBound - b ? kNoBound : a + b; }
inline std::uint64_t bounded_product(std::uint64_t a, std::uint64_t b) { return b != 0 && a > kNoBound / b ? kNoBound : a * b; }
inline std::uint64_t scaled(std::uint64_t a, double factor) {
  constexpr double kTwoTo64 = 18446744073709551616.0;
  const double number = static_cast<double>(a);
  if (number > 0 && factor > 0 && number > kTwoTo64 / factor) return kNoBound;
  const double out = std::ceil(number * factor);
  return out >= kTwoTo64 ? kNoBound : static_cast<std::uint64_t>(out);
}

// A range of costs or of sizes.
struct Range {
  std::uint64_t min = 0;
  std::uint64_t max = 0;

  static Range fixed(std::uint64_t value) { return {value, value}; }
  static Range unknown() { return {0, kNoBound}; }

  friend Range operator+(const Range& a, const Range& b) { return {bounded_sum(a.min, b.min), bounded_sum(a.max, b.max)}; }
  friend Range operator*(const Range& a, const Range& b) { return {bounded_product(a.min, b.min), bounded_product(a.max, b.max)}; }
  Range times(double factor) const { return {scaled(min, factor), scaled(max, factor)}; }
  // The smallest range that contains both.
  Range with(const Range& other) const { return {std::min(min, other.min), std::max(max, other.max)}; }
};
using MaybeRange = std::optional<Range>;

// The cost of a call without its arguments, and the size of its result.
struct CallEstimate {
  Range cost;
  MaybeRange result_size = {};
};

}  // namespace backplane::cel_detail
