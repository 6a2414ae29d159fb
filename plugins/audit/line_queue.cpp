#include "line_queue.hpp"

namespace backplane::audit {

LineQueue::LineQueue(const LogSettings& settings) {
  for (auto& part : parts_) part = std::make_unique<Part>(settings);
}

LineQueue::Part& LineQueue::part_of_this_thread() noexcept {
  static std::atomic<std::size_t> threads{0};
  thread_local const std::size_t thread = threads.fetch_add(1, std::memory_order_relaxed);
  return *parts_[thread % kParts];
}

bool LineQueue::take(std::size_t part, QueuedLines& empty) {
  const std::lock_guard lock(parts_[part]->mutex);
  QueuedLines& queued = parts_[part]->queued;
  if (queued.lines.empty()) return false;
  std::swap(queued, empty);
  return true;
}

}  // namespace backplane::audit
