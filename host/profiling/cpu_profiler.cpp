#include "profiling/cpu_profiler.hpp"

#include <sys/time.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <memory>
#include <thread>
#include <vector>

#include "profiling/stack_walk.hpp"

namespace backplane::profiling {
namespace {

// A sequence of samples. A sample is the number of addresses, followed by the addresses.
struct SampleBuffer {
  static constexpr std::size_t kWords = std::size_t{1} << 18;  // 2 MiB: enough for about 60 busy processors for a tenth of a second
  std::vector<std::uintptr_t> words = std::vector<std::uintptr_t>(kWords);
  std::atomic<std::size_t> used{0};
  std::atomic<int> writers{0};
};

// Handlers write to one buffer while the other is read.
struct Sampling {
  std::array<SampleBuffer, 2> buffers;
  std::atomic<std::size_t> active{0};
  std::atomic<std::size_t> lost{0};
  StackWalkGuard guard;
  struct sigaction former {};
};
std::atomic<bool> g_profiling{false};
std::unique_ptr<Sampling> g_owned;           // owned by the running profiler
std::atomic<Sampling*> g_sampling{nullptr};  // used by signal handlers; null: no profiler runs
std::atomic<int> g_handlers{0};              // the number of running signal handlers

bool write_sample(SampleBuffer& buffer, const std::uintptr_t* stack, std::size_t count) noexcept {
  const std::size_t at = buffer.used.fetch_add(count + 1, std::memory_order_relaxed);
  if (at + count + 1 > SampleBuffer::kWords) return false;
  buffer.words[at] = count;
  std::copy(stack, stack + count, buffer.words.data() + at + 1);
  return true;
}

void add_sample(Sampling& sampling, const void* context) noexcept {
  std::uintptr_t stack[kMostFrames];
  const std::size_t count = walk_interrupted_stack(context, stack);
  if (count == 0) return;
  for (;;) {
    const std::size_t index = sampling.active.load();
    SampleBuffer& buffer = sampling.buffers[index];
    buffer.writers.fetch_add(1);
    const bool current = sampling.active.load() == index;
    if (current && !write_sample(buffer, stack, count)) sampling.lost.fetch_add(1, std::memory_order_relaxed);
    buffer.writers.fetch_sub(1);
    if (current) return;
  }
}

void on_profile_signal(int, siginfo_t*, void* context) {
  const int saved = errno;
  g_handlers.fetch_add(1);
  if (Sampling* const sampling = g_sampling.load()) add_sample(*sampling, context);
  g_handlers.fetch_sub(1);
  errno = saved;
}

void set_timer(std::chrono::microseconds period) noexcept {
  itimerval timer{};
  timer.it_interval.tv_usec = static_cast<suseconds_t>(period.count());
  timer.it_value = timer.it_interval;
  setitimer(ITIMER_PROF, &timer, nullptr);
}

void wait_until_zero(const std::atomic<int>& count) noexcept {
  while (count.load() != 0) std::this_thread::yield();
}

void read_samples(SampleBuffer& buffer, Profile& profile) {
  constexpr std::int64_t kPeriod = CpuProfiler::kPeriod.count();
  const std::size_t end = std::min(buffer.used.load(), SampleBuffer::kWords);
  for (std::size_t at = 0; at < end && buffer.words[at] != 0;) {
    const std::size_t count = buffer.words[at];
    const auto first = buffer.words.begin() + static_cast<std::ptrdiff_t>(at) + 1;
    profile.add_stack({first, first + static_cast<std::ptrdiff_t>(count)}, {1, kPeriod});
    at += count + 1;
  }
  std::fill(buffer.words.begin(), buffer.words.begin() + static_cast<std::ptrdiff_t>(end),
            0);  // read_samples() ends at a 0, where a sample did not fit
  buffer.used.store(0);
}

}  // namespace

Status CpuProfiler::start() {
  if (g_profiling.exchange(true)) return Status(Reason::kAlreadyExists, "cpu profiling already in use");
  running_ = true;
  g_owned = std::make_unique<Sampling>();
  g_sampling.store(g_owned.get());
  struct sigaction action {};
  action.sa_sigaction = on_profile_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigaction(SIGPROF, &action, &g_owned->former);
  set_timer(std::chrono::duration_cast<std::chrono::microseconds>(kPeriod));
  return {};
}

void CpuProfiler::collect(Profile& profile) {
  if (!running_) return;
  const std::size_t former = g_owned->active.load();
  g_owned->active.store(1 - former);
  wait_until_zero(g_owned->buffers[former].writers);
  read_samples(g_owned->buffers[former], profile);
}

void CpuProfiler::stop() noexcept {
  if (!std::exchange(running_, false)) return;
  set_timer(std::chrono::microseconds(0));
  g_sampling.store(nullptr);
  wait_until_zero(g_handlers);
  // SIGPROF may still be pending, and its default action would end the process. So it is ignored if there was no handler before.
  struct sigaction ignored {};
  ignored.sa_handler = SIG_IGN;
  const struct sigaction& former = g_owned->former;
  const bool had_handler = (former.sa_flags & SA_SIGINFO) != 0 || former.sa_handler != SIG_DFL;
  sigaction(SIGPROF, had_handler ? &former : &ignored, nullptr);
  g_owned.reset();
  g_profiling.store(false);
}

std::size_t CpuProfiler::lost() const noexcept { return running_ ? g_owned->lost.load() : 0; }

}  // namespace backplane::profiling
