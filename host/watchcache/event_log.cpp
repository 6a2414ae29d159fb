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
  // The index holds the object of a record, too, until the object is superseded; then it is the previous object of a later record, which
  // counts it.
  std::size_t bytes = sizeof(LogRecord) + (record.previous ? record.previous->json_size() : 0);
  if (record.type == WatchEvent::Type::kDeleted) bytes += record.object->json_size();
  return bytes;
}

using Counts = std::array<bool, 4>;
bool wanted(const Counts& kinds, Topic::Kind kind) { return kinds[static_cast<std::size_t>(kind)]; }

void add_topics(const ObjectEntry& entry, const Counts& kinds, std::vector<Topic>& topics) {
  using Kind = Topic::Kind;
  if (wanted(kinds, Kind::kName)) topics.push_back({Kind::kName, name_term(entry.name())});
  if (wanted(kinds, Kind::kNamespace)) topics.push_back({Kind::kNamespace, namespace_term(entry.ns())});
  if (wanted(kinds, Kind::kLabel)) {
    for (const auto& [key, value] : entry.labels()) topics.push_back({Kind::kLabel, label_term(key, value)});
  }
  if (wanted(kinds, Kind::kField)) {
    std::size_t column = 0;
    for (const std::string_view value : entry.fields()) topics.push_back({Kind::kField, field_term(column++, value)});
  }
}

// The topics that the records concern. Kinds of topics that have no waiters are omitted.
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
  std::vector<std::shared_ptr<Segment>> dropped;
  Wakes wakes;
  {
    std::lock_guard lock(mutex_);
    dropped.swap(segments_);
    // All former cursors precede first_, so read() returns kLagged for them.
    first_ = end_ = (end_ / kSegment + 1) * kSegment;
    floor_ = floor;
    bytes_ = 0;
    take_all_waiters(wakes);
  }
  resume(std::move(wakes));
}

void EventLog::append(std::vector<LogRecord> records, std::size_t live_bytes) {
  if (records.empty()) return;
  Counts kinds{};
  for (std::size_t i = 0; i < kinds.size(); ++i) kinds[i] = topic_waiters_[i].load() > 0;
  const std::vector<Topic> touched = topics_of(records, kinds);
  // Records are written after end_, which no reader reads; they become visible under the lock, when end_ is set.
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
    written_ += bytes;
    wake(everything_, {}, from, wakes);
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      // A waiter with a kind of topic that topics_of() has omitted was added meanwhile. All waiters with topics are woken, because it is
      // not known whether the records concern it.
      if (!kinds[i] && topic_waiters_[i].load() > 0) wake_all_topics(from, wakes);
    }
    wake_topics(touched, from, wakes);
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
    segments_.erase(segments_.begin());
  }
}

void EventLog::close() {
  Wakes wakes;
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
    take_all_waiters(wakes);
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

}  // namespace backplane
