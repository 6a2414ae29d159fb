#include "base/loop_set.hpp"

#include <algorithm>

namespace backplane {

Executor& LoopSet::of(const std::string& name) {
  std::lock_guard lock(mutex_);
  auto& loop = loops_[name];
  if (!loop) {
    loop = std::make_unique<IoLoop>(name, /*may_block=*/true);
    if (started_) loop->start();
  }
  return *loop;
}

void LoopSet::start() {
  std::lock_guard lock(mutex_);
  if (std::exchange(started_, true)) return;
  for (auto& [_, loop] : loops_) loop->start();
}

std::vector<std::string> LoopSet::stop(std::chrono::nanoseconds limit) {
  const auto until = std::chrono::steady_clock::now() + limit;
  std::vector<std::pair<std::string, IoLoop*>> loops;
  {
    // Released before the wait, because running work may call of().
    std::lock_guard lock(mutex_);
    started_ = false;
    for (auto& [name, loop] : loops_) loops.emplace_back(name, loop.get());
  }
  // All loops are stopped before the first is waited for, so that a blocked one does not use up the time of the others.
  for (auto& [_, loop] : loops) loop->stop_within(std::chrono::nanoseconds(0));
  std::vector<std::string> stuck;
  for (auto& [name, loop] : loops) {
    const auto left = std::max(std::chrono::nanoseconds(0), std::chrono::nanoseconds(until - std::chrono::steady_clock::now()));
    if (!loop->stop_within(left)) stuck.push_back(name);
  }
  return stuck;
}

}  // namespace backplane
