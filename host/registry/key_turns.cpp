#include "registry/key_turns.hpp"

#include "backplane/core/task_set.hpp"

namespace backplane::registry {

bool KeyTurns::busy(const std::string& key) const {
  if (keys_.load(std::memory_order_relaxed) == 0) return false;
  const std::lock_guard lock(mutex_);
  return waiting_.contains(key);
}

Task<KeyTurns::Turn> KeyTurns::take(std::string key, std::chrono::nanoseconds timeout) {
  Promise<bool> mine;
  if (!enter(key, mine)) {
    auto waiting = within(timeout, mine);
    const bool given = co_await std::move(waiting);
    if (!given) co_return Turn();
  }
  co_return Turn(*this, std::move(key));
}

bool KeyTurns::enter(const std::string& key, const Promise<bool>& mine) {
  const std::lock_guard lock(mutex_);
  const auto [place, free] = waiting_.try_emplace(key);
  if (!free) place->second.push_back(mine);
  keys_.store(waiting_.size(), std::memory_order_relaxed);
  return free;
}

void KeyTurns::leave(const std::string& key) {
  for (;;) {
    Promise<bool> next;
    {
      const std::lock_guard lock(mutex_);
      const auto place = waiting_.find(key);
      if (place->second.empty()) {
        waiting_.erase(place);
        keys_.store(waiting_.size(), std::memory_order_relaxed);
        return;
      }
      next = std::move(place->second.front());
      place->second.pop_front();
    }
    if (next.set(true)) return;  // Otherwise the wait has timed out.
  }
}

}  // namespace backplane::registry
