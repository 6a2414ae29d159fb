#include "base/loop_set.hpp"

#include <pthread.h>
#include <time.h>

#include <algorithm>

namespace backplane {
namespace {

constexpr int kNoClock = 0;  // CLOCK_REALTIME, which is not the CPU clock of a thread: the thread has not stored its clock yet

}  // namespace

// Starts the loop. The first work of its thread stores the thread's CPU clock.
void LoopSet::start(IoLoop& loop) {
  const auto& clock = clocks_.emplace_back(std::make_shared<std::atomic<int>>(kNoClock));
  loop.post([clock] {
    clockid_t own = kNoClock;
    if (pthread_getcpuclockid(pthread_self(), &own) == 0) clock->store(own, std::memory_order_release);
  });
  loop.start();
}

std::chrono::nanoseconds LoopSet::cpu_time() const {
  std::chrono::nanoseconds sum{0};
  const std::lock_guard lock(mutex_);
  for (const auto& clock : clocks_) {
    const clockid_t id = clock->load(std::memory_order_acquire);
    timespec used{};
    if (id == kNoClock || clock_gettime(id, &used) != 0) continue;
    sum += std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
  }
  return sum;
}

Executor& LoopSet::of(const std::string& name) {
  std::lock_guard lock(mutex_);
  auto& loop = loops_[name];
  if (!loop) {
    loop = std::make_unique<IoLoop>(name, /*may_block=*/true);
    if (started_) start(*loop);
  }
  return *loop;
}

std::size_t LoopSet::size() const {
  const std::lock_guard lock(mutex_);
  return loops_.size();
}

void LoopSet::start() {
  std::lock_guard lock(mutex_);
  if (std::exchange(started_, true)) return;
  for (auto& [_, loop] : loops_) start(*loop);
}

std::vector<std::string> LoopSet::stop(std::chrono::nanoseconds limit) {
  const auto until = std::chrono::steady_clock::now() + limit;
  std::vector<std::pair<std::string, IoLoop*>> loops;
  {
    // The lock is released before the wait, because running work may call of().
    std::lock_guard lock(mutex_);
    started_ = false;
    for (auto& [name, loop] : loops_) loops.emplace_back(name, loop.get());
  }
  // All loops are stopped before the first wait, so that the other loops end while a blocked loop uses up the time limit.
  for (auto& [_, loop] : loops) loop->stop_within(std::chrono::nanoseconds(0));
  std::vector<std::string> stuck;
  for (auto& [name, loop] : loops) {
    const auto left = std::max(std::chrono::nanoseconds(0), std::chrono::nanoseconds(until - std::chrono::steady_clock::now()));
    if (!loop->stop_within(left)) stuck.push_back(name);
  }
  return stuck;
}

}  // namespace backplane
