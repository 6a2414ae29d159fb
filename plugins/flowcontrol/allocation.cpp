#include "allocation.hpp"

#include <algorithm>
#include <cmath>

namespace backplane::flowcontrol {
namespace {

constexpr double kLeastTarget = 0.001;
constexpr double kNothing = 1e-7;
// The weight of the previous value. The half-life is five minutes, because a period has ten seconds.
constexpr double kSmoothing = 0.977;

double target_of(const Claim& claim) { return std::max(claim.target, kLeastTarget); }
double part_of(const Claim& claim, double part) { return std::clamp(part * target_of(claim), claim.lower, claim.upper); }

double sum_of(const std::vector<Claim>& claims, double part) {
  double sum = 0;
  for (const Claim& claim : claims) sum += part_of(claim, part);
  return sum;
}

bool allowed(double sum, const std::vector<Claim>& claims) {
  double least = 0, most = 0;
  for (const Claim& claim : claims) {
    if (claim.lower < 0 || claim.upper < claim.lower || claim.target < claim.lower) return false;
    least += claim.lower;
    most += claim.upper;
  }
  return sum >= 0 && least <= sum + kNothing && most >= sum - kNothing;
}

int least_current(const LevelDemand& level) {
  const int wanted = level.exempt ? level.demand.most : std::min(level.nominal, level.demand.most);
  return std::max(level.lower, wanted);
}

}  // namespace

// The sum of all seats is a piecewise linear function of the common fraction. Its slope changes at each fraction at which a claim reaches a
// bound.
std::optional<Allocation> allocate(double sum, const std::vector<Claim>& claims) {
  if (!allowed(sum, claims)) return std::nullopt;
  std::vector<double> bends(1, 0.0);
  for (const Claim& claim : claims) {
    bends.push_back(claim.lower / target_of(claim));
    bends.push_back(claim.upper / target_of(claim));
  }
  std::sort(bends.begin(), bends.end());
  double below = 0, part = bends.back();
  for (const double bend : bends) {
    if (sum_of(claims, bend) < sum) {
      below = bend;
      continue;
    }
    const double from = sum_of(claims, below), to = sum_of(claims, bend);
    part = to > from ? below + (bend - below) * (sum - from) / (to - from) : bend;
    break;
  }
  Allocation out;
  out.fair_part = part;
  for (const Claim& claim : claims) out.seats.push_back(part_of(claim, part));
  return out;
}

void SmoothedDemand::next_period(bool passed, double period_average, double period_deviation, double period_most) {
  most = static_cast<int>(std::lround(period_most));
  if (!passed) return;
  average = period_average;
  deviation = period_deviation;
  const double envelope = average + deviation;
  smoothed = std::max(envelope, kSmoothing * smoothed + (1 - kSmoothing) * envelope);
}

LevelLimits share_seats(const std::vector<LevelDemand>& levels) {
  int total = 0, exempt = 0, lowest = 0, least = 0;
  std::vector<Claim> claims;
  for (const LevelDemand& level : levels) {
    total += level.nominal;
    const int current = least_current(level);
    if (level.exempt) {
      exempt += current;
      continue;
    }
    lowest += level.lower;
    least += current;
    claims.push_back({std::max<double>(current, level.demand.smoothed), static_cast<double>(current), static_cast<double>(level.upper)});
  }
  const int left = total - exempt;
  std::optional<Allocation> allocation;
  if (left > lowest && left > least) allocation = allocate(total, claims);
  LevelLimits out;
  out.fair_part = allocation ? allocation->fair_part : 0;
  std::size_t claim = 0;
  for (const LevelDemand& level : levels) {
    const int current = least_current(level);
    out.targets.push_back(level.exempt ? current : claims[claim].target);
    if (level.exempt) {
      out.current.push_back(current);
    } else if (left <= lowest) {
      out.current.push_back(level.lower);
    } else if (left <= least) {
      const double part = static_cast<double>(left - lowest) / (least - lowest);
      out.current.push_back(level.lower + static_cast<int>(std::lround((current - level.lower) * part)));
    } else {
      out.current.push_back(allocation ? static_cast<int>(std::lround(allocation->seats[claim])) : level.current);
    }
    if (!level.exempt) ++claim;
  }
  return out;
}

}  // namespace backplane::flowcontrol
