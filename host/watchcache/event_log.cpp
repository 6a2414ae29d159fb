#include "watchcache/event_log.hpp"

#include <algorithm>

namespace backplane {

namespace {
constexpr std::size_t kSegment = 128;
}  // namespace

struct EventLog::Segment {
  std::array<LogRecord, kSegment> records;
  std::size_t bytes = 0;
};

namespace {
std::size_t bytes_of(const LogRecord& record) {
  // The object itself is in the index, too, until it is superseded: then the next record counts it as its previous one.
  std::size_t bytes = sizeof(LogRecord) + (record.previous ? record.previous->json().size() : 0);
  if (record.type == WatchEvent::Type::kDeleted) bytes += record.object->json().size();
  return bytes;
}
}  // namespace

void EventLog::reset(Revision floor) {
  std::deque<std::shared_ptr<Segment>> dropped;
  std::vector<Group> waiting;
  {
    std::lock_guard lock(mutex_);
    dropped.swap(segments_);
    // Cursors of before are behind: they lag.
    first_ = end_ = (end_ / kSegment + 1) * kSegment;
    floor_ = floor;
    bytes_ = 0;
    waiting = take_waiters();
  }
  resume(std::move(waiting));
}

void EventLog::append(std::vector<LogRecord> records) {
  if (records.empty()) return;
  // Records are written beyond end_, where no reader looks, and become visible with the lock.
  std::uint64_t end = end_;
  std::vector<std::shared_ptr<Segment>> added;
  std::size_t bytes = 0;
  Segment* segment = segments_.empty() ? nullptr : segments_.back().get();
  for (auto& record : records) {
    if (end % kSegment == 0) {
      added.push_back(std::make_shared<Segment>());
      segment = added.back().get();
    }
    const std::size_t size = bytes_of(record);
    bytes += size;
    segment->bytes += size;
    segment->records[end++ % kSegment] = std::move(record);
  }
  std::vector<std::shared_ptr<Segment>> dropped;
  std::vector<Group> waiting;
  {
    std::lock_guard lock(mutex_);
    segments_.insert(segments_.end(), std::make_move_iterator(added.begin()), std::make_move_iterator(added.end()));
    end_ = end;
    bytes_ += bytes;
    trim(dropped);
    waiting = take_waiters();
  }
  resume(std::move(waiting));
}

void EventLog::trim(std::vector<std::shared_ptr<Segment>>& dropped) {
  while (segments_.size() > 1 && (end_ - first_ > limits_.max_events || bytes_ > limits_.max_bytes)) {
    auto& oldest = segments_.front();
    floor_ = oldest->records.back().revision;
    bytes_ -= oldest->bytes;
    first_ += kSegment;
    dropped.push_back(std::move(oldest));
    segments_.pop_front();
  }
}

void EventLog::close() {
  std::vector<Group> waiting;
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
    waiting = take_waiters();
  }
  resume(std::move(waiting));
}

std::optional<std::uint64_t> EventLog::cursor_after(Revision revision) const {
  std::lock_guard lock(mutex_);
  if (revision < floor_) return std::nullopt;
  std::uint64_t low = first_;
  std::uint64_t high = end_;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    const auto& record = segments_[(middle - first_) / kSegment]->records[middle % kSegment];
    if (record.revision > revision) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

Revision EventLog::floor() const {
  std::lock_guard lock(mutex_);
  return floor_;
}

std::size_t EventLog::size() const {
  std::lock_guard lock(mutex_);
  return end_ - first_;
}

EventLog::Slice EventLog::read(std::uint64_t cursor) const {
  Slice slice;
  slice.next = cursor;
  std::lock_guard lock(mutex_);
  if (closed_) {
    slice.state = Slice::State::kClosed;
  } else if (cursor < first_) {
    slice.state = Slice::State::kLagged;
  } else if (cursor < end_) {
    slice.state = Slice::State::kRecords;
    for (std::size_t i = 0; i < slice.segments.size() && slice.next < end_; ++i) {
      const auto& segment = segments_[(slice.next - first_) / kSegment];
      const std::size_t from = slice.next % kSegment;
      const std::size_t count = std::min<std::uint64_t>(kSegment - from, end_ - slice.next);
      slice.segments[i] = segment;
      slice.records[i] = std::span<const LogRecord>(segment->records).subspan(from, count);
      slice.next += count;
    }
  }
  return slice;
}

// ---- waiting

bool EventLog::enlist(Waiter& waiter, std::uint64_t cursor, std::coroutine_handle<> caller) {
  Executor* executor = current_executor();
  std::lock_guard lock(mutex_);
  if (closed_ || waiter.cancelled || cursor != end_) return false;
  auto group = std::find_if(groups_.begin(), groups_.end(), [&](const Group& each) { return each.executor == executor; });
  if (group == groups_.end()) group = groups_.insert(groups_.end(), Group{executor, {}});
  waiter.handle = caller;
  waiter.executor = executor;
  waiter.waiting = true;
  waiter.group = static_cast<std::size_t>(group - groups_.begin());
  waiter.at = group->waiters.size();
  group->waiters.push_back(&waiter);
  if (waiter.wants_bookmarks) ++bookmark_waiters_;
  return true;
}

void EventLog::delist(Waiter& waiter) {
  auto& waiters = groups_[waiter.group].waiters;
  waiters[waiter.at] = waiters.back();
  waiters[waiter.at]->at = waiter.at;
  waiters.pop_back();
  waiter.waiting = false;
  if (waiter.wants_bookmarks) --bookmark_waiters_;
}

std::vector<EventLog::Group> EventLog::take_waiters() {
  std::vector<Group> taken(groups_.size());
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    taken[i].executor = groups_[i].executor;
    taken[i].waiters.swap(groups_[i].waiters);
    groups_[i].waiters.reserve(taken[i].waiters.size());
    for (Waiter* waiter : taken[i].waiters) waiter->waiting = false;
  }
  bookmark_waiters_ = 0;
  return taken;
}

// A waiter that has been taken stays where it is until its coroutine has been resumed.
void EventLog::resume(std::vector<Group> groups) {
  for (auto& group : groups) {
    if (group.waiters.empty()) continue;
    auto wake = [waiters = std::move(group.waiters)] {
      for (Waiter* waiter : waiters) waiter->handle.resume();
    };
    if (group.executor != nullptr) {
      group.executor->post(std::move(wake));
    } else {
      wake();
    }
  }
}

void EventLog::cancel(Waiter& waiter) {
  std::vector<Group> woken;
  {
    std::lock_guard lock(mutex_);
    waiter.cancelled = true;
    if (!waiter.waiting) return;
    delist(waiter);
    woken.push_back({waiter.executor, {&waiter}});
  }
  resume(std::move(woken));
}

void EventLog::tick(Clock::time_point now) {
  std::vector<Group> due;
  {
    std::lock_guard lock(mutex_);
    if (bookmark_waiters_ == 0) return;
    for (auto& group : groups_) {
      Group woken{group.executor, {}};
      for (Waiter* waiter : group.waiters) {
        if (waiter->wants_bookmarks && waiter->bookmark_due <= now) woken.waiters.push_back(waiter);
      }
      for (Waiter* waiter : woken.waiters) delist(*waiter);
      if (!woken.waiters.empty()) due.push_back(std::move(woken));
    }
  }
  resume(std::move(due));
}

bool EventLog::wants_ticks() const {
  std::lock_guard lock(mutex_);
  return bookmark_waiters_ > 0;
}

}  // namespace backplane
