#include "profiling/thread_stacks.hpp"

#include <semaphore.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <sstream>

#include "profiling/stack_walk.hpp"

namespace backplane::profiling {
namespace {

// The buffer to which a thread writes its stack. `thread` is the thread that may write; a thread that responds too late does not find its
// ID there and writes nothing.
struct StackRequest {
  sem_t done;
  std::atomic<pid_t> thread{0};
  std::uintptr_t frames[kMostFrames];
  std::size_t count = 0;
};
StackRequest g_request;
std::mutex g_request_mutex;

int stack_signal() { return SIGRTMIN + 8; }

void on_stack_signal(int, siginfo_t*, void* context) {
  const int saved = errno;
  auto self = static_cast<pid_t>(syscall(SYS_gettid));
  if (g_request.thread.compare_exchange_strong(self, -1)) {
    g_request.count = walk_interrupted_stack(context, g_request.frames);
    sem_post(&g_request.done);
  }
  errno = saved;
}

bool wait_for_stack(std::chrono::milliseconds timeout) {
  timespec until{};
  clock_gettime(CLOCK_REALTIME, &until);
  const auto nanoseconds = until.tv_nsec + std::chrono::nanoseconds(timeout).count();
  until.tv_sec += nanoseconds / 1'000'000'000;
  until.tv_nsec = nanoseconds % 1'000'000'000;
  while (sem_timedwait(&g_request.done, &until) != 0) {
    if (errno != EINTR) return false;
  }
  return true;
}

// Interrupts the thread and returns its stack. If the thread has already begun to write its stack when `timeout` has passed, the wait has
// no limit, because writing takes little time.
Stack stack_of(pid_t thread, std::chrono::milliseconds timeout) {
  g_request.thread.store(thread);
  if (syscall(SYS_tgkill, getpid(), thread, stack_signal()) != 0) return {};
  if (!wait_for_stack(timeout)) {
    pid_t waiting = thread;
    if (g_request.thread.compare_exchange_strong(waiting, 0)) return {};
    while (sem_wait(&g_request.done) != 0) {
    }
  }
  return {g_request.frames, g_request.frames + g_request.count};
}

// Reads the fields of /proc/PID/task/TID/stat: "7 (name) S 1 …". The name may contain any characters.
void read_stat(const std::filesystem::path& folder, ThreadStack& thread) {
  std::ifstream file(folder / "stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto open = text.find('('), close = text.rfind(')');
  if (open == std::string::npos || close == std::string::npos) return;
  thread.name = text.substr(open + 1, close - open - 1);
  std::istringstream fields(text.substr(close + 1));
  std::string skipped;
  fields >> thread.state;
  for (int i = 0; i < 10; ++i) fields >> skipped;
  std::int64_t user = 0, system = 0;
  fields >> user >> system;
  thread.processor_time = std::chrono::milliseconds((user + system) * 1000 / sysconf(_SC_CLK_TCK));
}

}  // namespace

std::vector<ThreadStack> list_threads() {
  std::vector<ThreadStack> out;
  std::error_code error;
  for (auto it = std::filesystem::directory_iterator("/proc/self/task", error); !error && it != std::filesystem::directory_iterator();
       it.increment(error)) {
    const std::string name = it->path().filename();
    ThreadStack thread;
    std::from_chars(name.data(), name.data() + name.size(), thread.id);
    read_stat(it->path(), thread);
    out.push_back(std::move(thread));
  }
  std::sort(out.begin(), out.end(), [](const auto& one, const auto& other) { return one.id < other.id; });
  return out;
}

std::vector<ThreadStack> thread_stacks(std::chrono::milliseconds timeout) {
  const std::lock_guard lock(g_request_mutex);
  const StackWalkGuard guard;
  sem_init(&g_request.done, 0, 0);
  struct sigaction action {};
  action.sa_sigaction = on_stack_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigaction(stack_signal(), &action, nullptr);  // never removed: without a handler, a late signal would end the process
  auto threads = list_threads();
  for (ThreadStack& thread : threads) thread.stack = stack_of(thread.id, timeout);
  return threads;
}

}  // namespace backplane::profiling
