// Measures how the cost of a function grows with its input, for tests of code that must not be quadratic.
//
// Thread-safety: any thread. Measures the CPU time of the calling thread, so the result hardly depends on other load of the machine.
#pragma once

#include <time.h>

#include <algorithm>

namespace backplane::test_support {

// The minimum CPU time of `rounds` calls of `work`, in seconds.
template <class Work>
double least_cpu_seconds(Work work, int rounds = 7) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  };
  double least = 1e9;
  for (int i = 0; i < rounds; ++i) {
    const double begin = now();
    work();
    least = std::min(least, now() - begin);
  }
  return least;
}

// The limit of growth_of() for a linear function. For four times the input, a linear function takes 4 times as long, or up to 7 times if
// the larger input does not fit into a CPU cache; a quadratic function takes 16 times as long.
inline constexpr double kMostGrowthOfLinear = 9;

// `cost(4 * n)` divided by `cost(n)`; the minimum of three attempts.
template <class Cost>
double growth_of(Cost cost, int n) {
  double least = 1e9;
  for (int i = 0; i < 3 && least > kMostGrowthOfLinear; ++i) least = std::min(least, cost(4 * n) / cost(n));
  return least;
}

}  // namespace backplane::test_support
