// Starts child processes, with redirected output and changed environment variables, and waits for them.
//
// Thread-safety: any thread.
// Lifetime:      the caller waits for each process that it has started.
// Errors:        spawn() returns -1 if the program cannot be executed.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace backplane {

using Command = std::vector<std::string>;

struct SpawnOptions {
  int output = -1, errors = -1;               // descriptors for standard output and standard error; -1: inherited from this process
  std::vector<std::string> environment = {};  // "NAME=value": added to the environment of this process, or replaces a variable
};

// The path of this executable.
std::string own_program();
// Starts a program, which is searched for in PATH. -1: it cannot be executed.
pid_t spawn(const Command& command, const SpawnOptions& options = {});
// Waits for the end of the process. Returns the exit code, or 128 plus the number of the signal that has ended the process.
int wait_for_exit(pid_t pid);
// As above; nullopt: the process still runs after `limit`.
std::optional<int> wait_for_exit(pid_t pid, std::chrono::milliseconds limit);

}  // namespace backplane
