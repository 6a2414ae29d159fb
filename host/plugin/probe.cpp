#include "plugin/probe.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "backplane/abi/descriptor.h"
#include "backplane/plugin.hpp"
#include "stable/bridge.hpp"

extern char** environ;

namespace backplane {
namespace {

constexpr std::string_view kStep = "step: ";
constexpr std::size_t kMostText = 16 * 1024;
constexpr std::chrono::milliseconds kTurn{20};  // interval of checks; the pipe may stay open, because a grandchild has it

Finding probe_failed(const std::string& step, const std::string& what) {
  return {finding_code::kProbeFailed, Severity::kError, step, {}, {}, "in a child process, " + what, "the file is not loaded; repair it"};
}

void write_step(const char* step) {
  std::string line(kStep);
  line.append(step).append("\n");
  [[maybe_unused]] const auto written = ::write(STDOUT_FILENO, line.data(), line.size());
}

// A pipe that other children of this process do not inherit.
bool make_pipe(int (&ends)[2]) { return ::pipe2(ends, O_CLOEXEC) == 0; }

}  // namespace

Probe::Probe(const std::string& program, const std::string& file) {
  int ends[2];
  if (!make_pipe(ends)) return;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  std::string words[] = {program, "plugin", "probe", file};
  char* argv[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(), nullptr};
  if (::posix_spawn(&pid_, program.c_str(), &actions, &attributes, argv, environ) != 0) pid_ = -1;
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  ::close(ends[1]);
  output_ = ends[0];
  ::fcntl(output_, F_SETFL, O_NONBLOCK);
}

Probe::~Probe() {
  if (pid_ > 0) {
    ::kill(-pid_, SIGKILL);
    ::waitpid(pid_, &status_, 0);
  }
  if (output_ >= 0) ::close(output_);
}

void Probe::read() {
  char buffer[4096];
  for (ssize_t size = 0; (size = ::read(output_, buffer, sizeof buffer)) > 0;) {
    if (text_.size() < kMostText) text_.append(buffer, static_cast<std::size_t>(size));
  }
}

bool Probe::ended() {
  pollfd wait_for{output_, POLLIN, 0};
  (void)::poll(&wait_for, 1, static_cast<int>(kTurn.count()));
  const int found = ::waitpid(pid_, &status_, WNOHANG);
  read();
  return found == pid_ || (found < 0 && errno != EINTR);
}

std::optional<Finding> Probe::wait(std::chrono::nanoseconds limit) {
  if (pid_ < 0) return std::nullopt;
  while (!ended()) {
    if (std::chrono::steady_clock::now() - begun_ < limit) continue;
    const auto seconds = std::chrono::duration_cast<std::chrono::milliseconds>(limit).count() / 1000;
    return probe_failed(last_step(), "the " + last_step() + " has not returned within " + std::to_string(seconds) + " s");
  }
  ::kill(-pid_, SIGKILL);  // processes that it has left running
  pid_ = -1;
  return finding_of_exit();
}

std::string Probe::last_step() const {
  const auto at = text_.rfind(kStep);
  if (at == std::string::npos) return "start";
  const auto from = at + kStep.size();
  return text_.substr(from, std::min(text_.find('\n', from), text_.size()) - from);
}

// The output since the beginning of the last step, as one line.
std::string Probe::last_output() const {
  constexpr std::size_t kMostWords = 300;
  const auto step = text_.rfind(kStep);
  const auto from = step == std::string::npos ? step : text_.find('\n', step);
  std::string words = from == std::string::npos ? std::string() : text_.substr(from + 1, kMostWords);
  while (!words.empty() && words.back() == '\n') words.pop_back();
  std::replace(words.begin(), words.end(), '\n', ' ');
  return words.empty() ? words : ": " + words;
}

std::optional<Finding> Probe::finding_of_exit() const {
  const std::string step = last_step();
  if (WIFSIGNALED(status_)) {
    const char* const name = ::sigabbrev_np(WTERMSIG(status_));
    return probe_failed(step, "the " + step + " ended the process with SIG" + (name != nullptr ? name : "?") + last_output());
  }
  const int code = WEXITSTATUS(status_);
  if (code == 0 && step == "end") return std::nullopt;
  // 127: the program could not be executed, so the probe has no result.
  if (step == "start") return std::nullopt;
  return probe_failed(step, "the " + step + " ended the process with code " + std::to_string(code) + last_output());
}

int run_probe(const std::string& file) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit none{0, 0};
  ::setrlimit(RLIMIT_CORE, &none);
  write_step("static initializers");
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const entry = library != nullptr ? ::dlsym(library, BP_ENTRY_SYMBOL) : nullptr;
  void* const stable_entry = library != nullptr && entry == nullptr ? ::dlsym(library, BP_STABLE_ENTRY) : nullptr;
  if (entry != nullptr || stable_entry != nullptr) {
    write_step("constructor");
    std::unique_ptr<Plugin> plugin;
    try {
      if (entry != nullptr) {
        plugin.reset(reinterpret_cast<Plugin* (*)()>(entry)());
      } else if (auto made = stable::make_plugin(reinterpret_cast<stable::Entry>(stable_entry), file); made.ok()) {
        plugin = std::move(*made);
      }
    } catch (...) {  // the server reports the exception when it loads the plugin
    }
    write_step("destructor");
    plugin.reset();
  }
  write_step("end");
  ::_exit(0);  // without static destructors: the host's must not run here
}

}  // namespace backplane
