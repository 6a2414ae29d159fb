#include "base/cpu_limit.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string_view>
#include <thread>

namespace backplane {
namespace {

// The quota of a control group of version 2: the file cpu.max contains "QUOTA PERIOD", in microseconds; QUOTA is "max" if there is none.
std::optional<double> quota_of(const std::string& folder) {
  std::ifstream file(folder + "/cpu.max");
  std::string quota;
  double period = 0;
  if (!(file >> quota >> period) || quota == "max" || period <= 0) return std::nullopt;
  return std::atof(quota.c_str()) / period;
}

// The quota of a control group of version 1: two files; the quota is -1 if there is none.
std::optional<double> old_quota_of(const std::string& folder) {
  double quota = -1;
  double period = 0;
  std::ifstream(folder + "/cpu.cfs_quota_us") >> quota;
  std::ifstream(folder + "/cpu.cfs_period_us") >> period;
  if (quota <= 0 || period <= 0) return std::nullopt;
  return quota / period;
}

void take_smaller(std::optional<double>& smallest, std::optional<double> other) {
  if (other && (!smallest || *other < *smallest)) smallest = other;
}

// The smallest quota of the group at `path` and of every group that contains it.
std::optional<double> smallest_quota(const std::string& top, std::string path, std::optional<double> (*quota)(const std::string&)) {
  std::optional<double> smallest;
  while (true) {
    take_smaller(smallest, quota(top + path));
    if (path.empty() || path == "/") return smallest;
    path.erase(path.rfind('/'));
  }
}

bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const auto comma = list.find(',');
    if (list.substr(0, comma) == word) return true;
    if (comma == std::string_view::npos) break;
    list.remove_prefix(comma + 1);
  }
  return false;
}

}  // namespace

std::optional<double> cpu_quota(const std::string& root) {
  const std::string top = root + "/sys/fs/cgroup";
  std::ifstream groups(root + "/proc/self/cgroup");
  std::optional<double> smallest;
  // A line of the file is "HIERARCHY:CONTROLLERS:PATH". In version 2, CONTROLLERS is empty.
  for (std::string line; std::getline(groups, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (second == std::string::npos || second + 1 >= line.size() || line[second + 1] != '/') continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (controllers.empty()) {
      take_smaller(smallest, smallest_quota(top, path, quota_of));
    } else if (has_word(controllers, "cpu")) {
      take_smaller(smallest, smallest_quota(top + "/" + controllers, path, old_quota_of));
      take_smaller(smallest, smallest_quota(top + "/cpu", path, old_quota_of));
    }
  }
  return smallest;
}

unsigned usable_cores(unsigned cores, std::optional<double> quota) noexcept {
  cores = std::max(1u, cores);
  if (!quota) return cores;
  return std::min(cores, std::max(2u, static_cast<unsigned>(std::ceil(*quota))));
}

unsigned usable_cores() { return usable_cores(std::thread::hardware_concurrency(), cpu_quota()); }

}  // namespace backplane
