// Child processes: started with redirected output and further environment variables, and waited for.
//
// Thread-safety: any thread.
// Lifetime:      the caller waits for each process that it has started.
// Errors:        -1 for a program that cannot be executed.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace backplane {

using Command = std::vector<std::string>;

struct SpawnOptions {
  int output = -1, errors = -1;               // descriptors for the standard output and error; -1: those of this process
  std::vector<std::string> environment = {};  // "NAME=value", instead of variables of these names
};

// The path of this executable.
std::string own_program();
// Starts a program, found by PATH. -1: it cannot be executed.
pid_t spawn(const Command& command, const SpawnOptions& options = {});
// The exit code; 128 and the number of the signal that has ended it.
int wait_for_exit(pid_t pid);
// The same; none: the process still runs after `limit`.
std::optional<int> wait_for_exit(pid_t pid, std::chrono::milliseconds limit);

}  // namespace backplane
