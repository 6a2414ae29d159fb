#include "filters/deadline_queue.hpp"

#include <algorithm>

#include "backplane/core/task.hpp"

namespace backplane {

using Clock = std::chrono::steady_clock;

void DeadlineQueue::Entry::unlink() noexcept {
  if (next_ == nullptr) return;
  previous_->next_ = next_;
  next_->previous_ = previous_;
  previous_ = next_ = nullptr;
}

DeadlineQueue::DeadlineQueue() { head_.previous_ = head_.next_ = &head_; }

DeadlineQueue& DeadlineQueue::current() {
  thread_local DeadlineQueue queue;
  return queue;
}

void DeadlineQueue::add(Entry& entry, Clock::time_point deadline) {
  entry.deadline_ = deadline;
  entry.previous_ = head_.previous_;
  entry.next_ = &head_;
  head_.previous_->next_ = &entry;
  head_.previous_ = &entry;
  if (deadline < armed_) arm(deadline);
}

void DeadlineQueue::arm(Clock::time_point when) {
  armed_ = when;
  const auto delay = std::max(when - Clock::now(), Clock::duration(std::chrono::milliseconds(1)));
  // A timer for a later deadline is not cancelled. It fires without effect, at most once in the timeout of a request.
  current_executor()->after(delay, [] { current().run_due(); });
}

void DeadlineQueue::run_due() {
  const auto now = Clock::now();
  if (now < armed_) return;
  armed_ = Clock::time_point::max();
  auto earliest = Clock::time_point::max();
  for (Entry* entry = head_.next_; entry != &head_;) {
    Entry* next = entry->next_;
    if (entry->deadline_ <= now) {
      entry->unlink();
      entry->on_deadline();
    } else {
      earliest = std::min(earliest, entry->deadline_);
    }
    entry = next;
  }
  if (earliest != Clock::time_point::max()) arm(earliest);
}

}  // namespace backplane
