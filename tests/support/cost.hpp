// How the cost of a function grows with its input, for tests of code that must not be quadratic.
//
// Thread-safety: measures the calling thread's CPU time; other load on the machine does not count.
#pragma once

#include <time.h>

#include <algorithm>

namespace backplane::test_support {

// The least CPU time of `rounds` calls of `work`, in seconds.
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

// A quadratic function costs 16 times as much for four times the input, a linear one 4 times, or up to 7 times if the larger input no
// longer fits into a cache.
inline constexpr double kMostGrowthOfLinear = 9;

// The cost of `cost(4 * n)` divided by that of `cost(n)`; the least of three attempts.
template <class Cost>
double growth_of(Cost cost, int n) {
  double least = 1e9;
  for (int i = 0; i < 3 && least > kMostGrowthOfLinear; ++i) least = std::min(least, cost(4 * n) / cost(n));
  return least;
}

}  // namespace backplane::test_support
