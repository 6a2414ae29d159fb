// Computes the number of seats of each priority level for the next period: unused seats are lent to levels that can use them.
//
// Thread-safety: pure functions.
#pragma once

#include <optional>
#include <vector>

namespace backplane::flowcontrol {

// The target and the bounds of one level: 0 <= lower <= target, lower <= upper.
struct Claim {
  double target = 0;
  double lower = 0;
  double upper = 0;
};
struct Allocation {
  std::vector<double> seats;  // for each claim
  double fair_part = 0;       // the fraction of its target that a claim gets unless a bound applies
};
// Divides `sum`: each claim gets the same fraction of its target, clamped to its bounds. Returns nullopt if the bounds do not allow that
// sum, or if a claim violates the inequalities above.
std::optional<Allocation> allocate(double sum, const std::vector<Claim>& claims);

// The demand of a level in the last period. `smoothed` rises at once and falls by half in five minutes. `passed` is false for a period
// without length; then only `most` is updated.
struct SmoothedDemand {
  double average = 0;
  double deviation = 0;
  int most = 0;
  double smoothed = 0;
  void next_period(bool passed, double period_average, double period_deviation, double period_most);
};

// The configuration and the demand of a level.
struct LevelDemand {
  bool exempt = false;
  int nominal = 0;
  int lower = 0;
  int upper = 0;
  int current = 0;
  SmoothedDemand demand;
};
struct LevelLimits {
  std::vector<int> current;     // for each level
  std::vector<double> targets;  // for each level
  double fair_part = 0;
};
LevelLimits share_seats(const std::vector<LevelDemand>& levels);

}  // namespace backplane::flowcontrol
