#include "runner/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "backplane/core/server_slot.hpp"

extern char** environ;

namespace backplane::runner {
namespace {

constexpr int kFirstFreeDescriptor = 10;  // smaller descriptors are targets of dup2() in the child
constexpr std::size_t kMostLine = 4096;

// Moves the descriptor to a number that is not a target of dup2() in the child.
int duplicated_above(int descriptor) {
  const int moved = ::fcntl(descriptor, F_DUPFD_CLOEXEC, kFirstFreeDescriptor);
  ::close(descriptor);
  return moved;
}

void close_all(std::initializer_list<int> descriptors) {
  for (const int each : descriptors) {
    if (each >= 0) ::close(each);
  }
}

}  // namespace

Process::Process(const std::string& program, const std::vector<std::string>& words, std::function<void(std::string_view)> line)
    : line_(std::move(line)) {
  int sockets[2] = {-1, -1}, output[2] = {-1, -1};
  end_ = ::eventfd(0, EFD_CLOEXEC);
  record_ = duplicated_above(::memfd_create("plugin-crash", MFD_CLOEXEC));
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0 || ::pipe2(output, O_CLOEXEC) != 0) {
    close_all({sockets[0], sockets[1]});
    return;
  }
  socket_ = sockets[0];
  output_ = output[0];
  const int theirs = duplicated_above(sockets[1]), written = duplicated_above(output[1]);
  const bool started = spawn(program, words, theirs, written);
  close_all({theirs, written});
  if (!started) {
    pid_ = -1;
    close_all({take_socket()});
    return;
  }
  // The wrapper of pidfd_open() is newer than the C library of Debian 12.
  handle_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  reader_ = std::thread([this, slot = current_server_slot()] {
    const ServerScope server(slot);
    ::pthread_setname_np(::pthread_self(), "runner-output");
    read_output();
  });
}

bool Process::spawn(const std::string& program, const std::vector<std::string>& words, int socket, int output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&actions, socket, kSocketDescriptor);
  posix_spawn_file_actions_adddup2(&actions, record_, kCrashRecordDescriptor);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  for (const int each : {SIGTERM, SIGINT, SIGHUP, SIGPIPE, SIGCHLD}) sigaddset(&defaults, each);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<std::string> line{program, "plugin", "runner"};
  line.insert(line.end(), words.begin(), words.end());
  std::vector<char*> argv;
  for (auto& word : line) argv.push_back(word.data());
  argv.push_back(nullptr);
  const int failed = ::posix_spawn(&pid_, program.c_str(), &actions, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return failed == 0;
}

Process::~Process() {
  kill();
  (void)wait(-1);
  if (end_ >= 0) ::eventfd_write(end_, 1);
  if (reader_.joinable()) reader_.join();
  close_all({handle_, socket_, output_, record_, end_});
}

int Process::take_socket() noexcept { return std::exchange(socket_, -1); }

void Process::kill() const {
  if (handle_ >= 0) ::syscall(SYS_pidfd_send_signal, handle_, SIGKILL, nullptr, 0);
}

bool Process::wait(int milliseconds) {
  if (pid_ <= 0 || ended_) return true;
  pollfd wait_for{handle_, POLLIN, 0};
  int ready = 0;
  while ((ready = ::poll(&wait_for, 1, milliseconds)) < 0 && errno == EINTR) {
  }
  if (ready == 0) return false;
  ::kill(-pid_, SIGKILL);  // processes that it has left running
  while (::waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
  }
  ended_ = true;
  return true;
}

std::string Process::exit_description() const {
  if (!WIFSIGNALED(status_)) return "exit code " + std::to_string(WEXITSTATUS(status_));
  const char* const name = ::sigabbrev_np(WTERMSIG(status_));
  return "SIG" + std::string(name != nullptr ? name : "?");
}

std::string Process::crash_record() const {
  std::string text(kMostLine, '\0');
  const ssize_t size = ::pread(record_, text.data(), text.size(), 0);
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

void Process::read_output() const {
  std::string rest;
  std::array<char, 4096> buffer{};
  std::array<pollfd, 2> watched{pollfd{output_, POLLIN, 0}, pollfd{end_, POLLIN, 0}};
  for (;;) {
    if (::poll(watched.data(), watched.size(), -1) < 0 && errno != EINTR) break;
    if ((watched[0].revents & (POLLIN | POLLHUP)) == 0) {
      if (watched[1].revents != 0) break;
      continue;
    }
    const ssize_t size = ::read(output_, buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    rest.append(buffer.data(), static_cast<std::size_t>(size));
    for (auto end = rest.find('\n'); end != std::string::npos || rest.size() > kMostLine; end = rest.find('\n')) {
      const std::size_t length = std::min({end, kMostLine, rest.size()});
      line_(std::string_view(rest).substr(0, length));
      rest.erase(0, length + (end == length ? 1 : 0));
    }
  }
  if (!rest.empty()) line_(rest);
}

}  // namespace backplane::runner
