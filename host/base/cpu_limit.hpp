// How many processors this process may keep busy: those it may run on, or fewer when its control group has a quota.
//
// Thread-safety: pure functions; files are read at every call.
// Errors:        what cannot be read is no limit.
#pragma once

#include <optional>
#include <string>

namespace backplane {

// The smallest quota of the process's control group and those above it, in processors; nothing when there is none.  `root` is prepended to
// /proc/self/cgroup and /sys/fs/cgroup.
std::optional<double> cpu_quota(const std::string& root = "");
// Whole processors to plan for: a quota counts up to the next one and as no fewer than two, so that one busy loop leaves another to answer
// (Go's rule).
unsigned usable_cores(unsigned cores, std::optional<double> quota) noexcept;
// Of this process, on this machine.
unsigned usable_cores();

}  // namespace backplane
