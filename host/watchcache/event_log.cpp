#include "watchcache/event_log.hpp"

#include <algorithm>

namespace backplane {

namespace {
constexpr std::size_t kSegment = 128;
// Waiters of one loop from which on events gather for them, for how long for each of them, and the most it may be.  To tell one takes
// about a quarter of that, most of it for the write, however many events it holds.
constexpr std::size_t kMany = 32;
constexpr std::chrono::microseconds kPerWaiter{40};
constexpr std::chrono::milliseconds kMaxGathering{50};
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

using Counts = std::array<bool, 4>;
bool wanted(const Counts& kinds, Topic::Kind kind) { return kinds[static_cast<std::size_t>(kind)]; }

void add_topics(const ObjectEntry& entry, const Counts& kinds, std::vector<Topic>& topics) {
  using Kind = Topic::Kind;
  if (wanted(kinds, Kind::kName)) topics.push_back({Kind::kName, name_term(entry.name)});
  if (wanted(kinds, Kind::kNamespace)) topics.push_back({Kind::kNamespace, namespace_term(entry.ns)});
  if (wanted(kinds, Kind::kLabel)) {
    for (const auto& [key, value] : entry.labels) topics.push_back({Kind::kLabel, label_term(key, value)});
  }
  if (wanted(kinds, Kind::kField)) {
    for (std::size_t i = 0; i < entry.fields.size(); ++i) topics.push_back({Kind::kField, field_term(i, entry.fields[i])});
  }
}

// What the records touch of the kinds that somebody waits for.
std::vector<Topic> topics_of(const std::vector<LogRecord>& records, const Counts& kinds) {
  std::vector<Topic> topics;
  if (std::find(kinds.begin(), kinds.end(), true) == kinds.end()) return topics;
  for (const auto& record : records) {
    add_topics(*record.object, kinds, topics);
    if (record.previous) add_topics(*record.previous, kinds, topics);
  }
  return topics;
}
}  // namespace

void EventLog::reset(Revision floor) {
  std::deque<std::shared_ptr<Segment>> dropped;
  Wakes wakes;
  {
    std::lock_guard lock(mutex_);
    dropped.swap(segments_);
    // Cursors of before are behind: they lag.
    first_ = end_ = (end_ / kSegment + 1) * kSegment;
    floor_ = floor;
    bytes_ = 0;
    take_everybody(wakes);
  }
  resume(std::move(wakes));
}

void EventLog::append(std::vector<LogRecord> records, std::size_t live_bytes) {
  if (records.empty()) return;
  Counts kinds{};
  for (std::size_t i = 0; i < kinds.size(); ++i) kinds[i] = topic_waiters_[i].load() > 0;
  const std::vector<Topic> touched = topics_of(records, kinds);
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
  Wakes wakes;
  {
    std::lock_guard lock(mutex_);
    const std::uint64_t from = end_;
    segments_.insert(segments_.end(), std::make_move_iterator(added.begin()), std::make_move_iterator(added.end()));
    end_ = end;
    bytes_ += bytes;
    trim(std::clamp(live_bytes / kShare, std::min(limits_.min_bytes, limits_.max_bytes), limits_.max_bytes), dropped);
    for (auto& group : groups_) wake_group(group, wakes);
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      // Somebody has begun to wait for a kind that was not looked for above: better to wake too many.
      if (!kinds[i] && topic_waiters_[i].load() > 0) take_topics(from, wakes);
    }
    take_concerned(touched, from, wakes);
  }
  resume(std::move(wakes));
}

void EventLog::trim(std::size_t max_bytes, std::vector<std::shared_ptr<Segment>>& dropped) {
  while (segments_.size() > 1 && (end_ - first_ > limits_.max_events || bytes_ > max_bytes)) {
    auto& oldest = segments_.front();
    floor_ = oldest->records.back().revision;
    bytes_ -= oldest->bytes;
    first_ += kSegment;
    dropped.push_back(std::move(oldest));
    segments_.pop_front();
  }
}

void EventLog::close() {
  Wakes wakes;
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
    take_everybody(wakes);
  }
  resume(std::move(wakes));
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

EventLog::Group& EventLog::group_of(Executor* executor) {
  const auto found = std::find_if(groups_.begin(), groups_.end(), [&](const Group& each) { return each.executor == executor; });
  if (found != groups_.end()) return *found;
  groups_.push_back({executor, {}, false, false});
  return groups_.back();
}

EventLog::Waiters& EventLog::list_of(const Waiter& waiter) {
  return waiter.topic ? by_topic_[waiter.topic->term] : group_of(waiter.executor).waiters;
}

bool EventLog::enlist(Waiter& waiter, std::uint64_t cursor, std::coroutine_handle<> caller) {
  waiter.cursor = cursor;
  std::lock_guard lock(mutex_);
  if (closed_ || waiter.cancelled || cursor != end_) return false;
  waiter.handle = caller;
  waiter.executor = current_executor();
  waiter.waiting = true;
  auto& list = list_of(waiter);
  waiter.at = list.size();
  list.push_back(&waiter);
  if (waiter.topic) ++topic_waiters_[static_cast<std::size_t>(waiter.topic->kind)];
  if (waiter.wants_bookmarks) list_bookmark(waiter);
  return true;
}

// Out of its list, into those to be resumed.
void EventLog::take(Waiter& waiter, Wakes& wakes) {
  auto& list = list_of(waiter);
  list[waiter.at] = list.back();
  list[waiter.at]->at = waiter.at;
  list.pop_back();
  if (list.empty() && waiter.topic) by_topic_.erase(waiter.topic->term);
  waiter.waiting = false;
  if (waiter.topic) --topic_waiters_[static_cast<std::size_t>(waiter.topic->kind)];
  auto wake = std::find_if(wakes.begin(), wakes.end(), [&](const Wake& each) { return each.executor == waiter.executor; });
  if (wake == wakes.end()) wake = wakes.insert(wakes.end(), Wake{waiter.executor, {}});
  wake->waiters.push_back(&waiter);
}

void EventLog::take_all(Waiters& waiters, Wakes& wakes) {
  for (std::size_t left = waiters.size(); left > 0; --left) take(*waiters.back(), wakes);
}

void EventLog::take_everybody(Wakes& wakes) {
  for (auto& group : groups_) take_all(group.waiters, wakes);
  take_topics(0, wakes);
}

// Everybody who waits for something, to go on at `from` at the earliest.
void EventLog::take_topics(std::uint64_t from, Wakes& wakes) {
  while (!by_topic_.empty()) {
    Waiters& waiters = by_topic_.begin()->second;
    for (Waiter* waiter : waiters) waiter->cursor = std::max(waiter->cursor, from);
    take_all(waiters, wakes);
  }
}

void EventLog::wake_group(Group& group, Wakes& wakes) {
  if (group.busy) {
    group.missed = true;
  } else if (group.waiters.size() < kMany || group.executor == nullptr || weak_from_this().expired()) {
    take_all(group.waiters, wakes);
  } else {
    gather(group);
  }
}

void EventLog::gather(Group& group) {
  group.busy = true;
  const auto gathering = std::min<Clock::duration>(kMaxGathering, group.waiters.size() * kPerWaiter);
  group.executor->after(gathering, [weak = weak_from_this(), executor = group.executor] {
    if (auto log = weak.lock()) log->begin_round(executor);
  });
}

void EventLog::begin_round(Executor* executor) {
  Wakes wakes;
  {
    std::lock_guard lock(mutex_);
    Group& group = group_of(executor);
    group.missed = false;
    for (std::size_t i = group.waiters.size(); i-- > 0;) {
      if (group.waiters[i]->cursor < end_) take(*group.waiters[i], wakes);
    }
  }
  for (Wake& wake : wakes) {
    for (Waiter* waiter : wake.waiters) waiter->handle.resume();
  }
  // Behind what they have posted: their writes.
  executor->post([weak = weak_from_this(), executor] {
    if (auto log = weak.lock()) log->end_round(executor);
  });
}

void EventLog::end_round(Executor* executor) {
  std::lock_guard lock(mutex_);
  Group& group = group_of(executor);
  group.busy = false;
  if (std::exchange(group.missed, false)) gather(group);
}

void EventLog::take_concerned(const std::vector<Topic>& touched, std::uint64_t from, Wakes& wakes) {
  for (const Topic& topic : touched) {
    const auto found = by_topic_.find(topic.term);
    if (found == by_topic_.end()) continue;
    for (Waiter* waiter : found->second) waiter->cursor = std::max(waiter->cursor, from);
    take_all(found->second, wakes);
  }
}

// A waiter that has been taken stays where it is until its coroutine has been resumed.
void EventLog::resume(Wakes wakes) {
  for (auto& wake : wakes) {
    auto run = [waiters = std::move(wake.waiters)] {
      for (Waiter* waiter : waiters) waiter->handle.resume();
    };
    if (wake.executor != nullptr) {
      wake.executor->post(std::move(run));
    } else {
      run();
    }
  }
}

void EventLog::cancel(Waiter& waiter) {
  Wakes wakes;
  {
    std::lock_guard lock(mutex_);
    waiter.cancelled = true;
    if (!waiter.waiting) return;
    take(waiter, wakes);
  }
  resume(std::move(wakes));
}

// ---- bookmarks

EventLog::Waiter::~Waiter() {
  if (log == nullptr) return;
  const std::lock_guard lock(log->mutex_);
  log->unlist_bookmark(*this);
}

void EventLog::list_bookmark(Waiter& waiter) {
  if (waiter.listed == waiter.bookmark_due) return;
  unlist_bookmark(waiter);
  if (waiter.bookmark_due == Clock::time_point::max()) return;
  const auto place = bookmarks_.emplace(waiter.bookmark_due, &waiter).first;
  waiter.log = this;
  waiter.listed = waiter.bookmark_due;
  if (place == bookmarks_.begin() && on_due_) on_due_(waiter.bookmark_due);
}

void EventLog::unlist_bookmark(Waiter& waiter) {
  if (waiter.listed) bookmarks_.erase({*waiter.listed, &waiter});
  waiter.listed.reset();
}

void EventLog::tick(Clock::time_point now) {
  Wakes wakes;
  {
    std::lock_guard lock(mutex_);
    while (!bookmarks_.empty() && bookmarks_.begin()->first <= now) {
      Waiter& waiter = *bookmarks_.begin()->second;
      unlist_bookmark(waiter);
      // One who does not wait looks at the time before it does so again.
      if (!waiter.waiting) continue;
      if (waiter.topic) waiter.cursor = std::max(waiter.cursor, end_);  // nothing up to here was of its concern
      take(waiter, wakes);
    }
  }
  resume(std::move(wakes));
}

std::optional<EventLog::Clock::time_point> EventLog::next_due() const {
  std::lock_guard lock(mutex_);
  if (bookmarks_.empty()) return std::nullopt;
  return bookmarks_.begin()->first;
}

}  // namespace backplane
