#include "base/child_process.hpp"

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

extern char** environ;

namespace backplane {
namespace {

std::string name_of(const std::string& variable) { return variable.substr(0, variable.find('=') + 1); }

// The environment of this process with `changes` ("NAME=value") in it.
std::vector<std::string> environment_with(const std::vector<std::string>& changes) {
  std::vector<std::string> out = changes;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string variable = *each;
    const bool changed = std::any_of(changes.begin(), changes.end(), [&](const auto& one) { return name_of(one) == name_of(variable); });
    if (!changed) out.push_back(variable);
  }
  return out;
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> out;
  for (const auto& word : words) out.push_back(const_cast<char*>(word.c_str()));
  out.push_back(nullptr);
  return out;
}

int code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

}  // namespace

std::string own_program() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).string();
}

pid_t spawn(const Command& command, const SpawnOptions& options) {
  std::vector<char*> argv = pointers(command);
  const std::vector<std::string> variables = environment_with(options.environment);
  std::vector<char*> envp = pointers(variables);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (options.output >= 0) posix_spawn_file_actions_adddup2(&actions, options.output, STDOUT_FILENO);
  if (options.errors >= 0) posix_spawn_file_actions_adddup2(&actions, options.errors, STDERR_FILENO);
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, argv[0], &actions, &attributes, argv.data(), envp.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return error == 0 ? pid : -1;
}

int wait_for_exit(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return 1;
  }
  return code_of(status);
}

std::optional<int> wait_for_exit(pid_t pid, std::chrono::milliseconds limit) {
  // The C library of Debian 12 has no function for pidfd_open().
  const int watched = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (watched < 0) return wait_for_exit(pid);
  const auto until = std::chrono::steady_clock::now() + limit;
  pollfd ended{watched, POLLIN, 0};
  int ready = 0;
  do {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    ready = ::poll(&ended, 1, static_cast<int>(std::max<std::chrono::milliseconds::rep>(left.count(), 0)));
  } while (ready < 0 && errno == EINTR);
  ::close(watched);
  return ready > 0 ? std::optional<int>(wait_for_exit(pid)) : std::nullopt;
}

}  // namespace backplane
