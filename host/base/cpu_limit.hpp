// The number of processors that this process may use: those of its affinity mask, or fewer if its control group has a quota.
//
// Thread-safety: pure functions; files are read at every call.
// Errors:        none; a file that cannot be read sets no limit.
#pragma once

#include <optional>
#include <string>

namespace backplane {

// The smallest quota of the process's control group and of the groups that contain it, in processors; nullopt: no group has a quota. `root`
// is prepended to /proc/self/cgroup and /sys/fs/cgroup.
std::optional<double> cpu_quota(const std::string& root = "");
// The smaller of `cores` and `quota`. A quota is rounded up, to at least two, so that one busy loop does not block all requests (Go's
// rule).
unsigned usable_cores(unsigned cores, std::optional<double> quota) noexcept;
// The number of processors that this process may use.
unsigned usable_cores();

}  // namespace backplane
