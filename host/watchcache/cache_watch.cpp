#include "watchcache/cache_watch.hpp"

#include "backplane/core/metrics.hpp"
#include "base/yield.hpp"
#include "watchcache/cache_metrics.hpp"

namespace backplane {
namespace {

constexpr std::size_t kInitialBatch = 256;  // synthetic events per batch
// A watch with a deadline gets its last bookmark this long before the deadline.
constexpr std::chrono::seconds kBeforeDeadline{2};

class FailedWatch final : public WatchStream {
 public:
  explicit FailedWatch(Status status) : status_(std::move(status)) {}
  Task<Result<std::vector<WatchEvent>>> next() override {
    if (finished_.exchange(true)) co_return std::vector<WatchEvent>{};
    co_return status_;
  }
  void cancel() override { finished_.store(true); }

 private:
  const Status status_;
  std::atomic<bool> finished_{false};
};

void count_terminated(const GroupResource& resource) {
  static Metric& terminated = Metric::counter("apiserver_terminated_watchers_total",
                                              "Watches ended because their readers fell too far behind.", {"group", "resource"});
  terminated.add({resource.group, resource.resource});
}

EventLog::Clock::time_point first_bookmark(const std::optional<std::int64_t>& timeout_seconds) {
  const auto now = EventLog::Clock::now();
  if (!timeout_seconds || *timeout_seconds <= 0) return now + kBookmarkPeriod;
  const std::chrono::seconds last = std::chrono::seconds(*timeout_seconds) - kBeforeDeadline;
  if (last <= std::chrono::seconds(0)) return EventLog::Clock::time_point::max();
  return now + std::min(last, kBookmarkPeriod);
}

}  // namespace

std::unique_ptr<WatchStream> make_failed_watch(Status status) { return std::make_unique<FailedWatch>(std::move(status)); }

// ---- starting

CacheWatch::CacheWatch(std::shared_ptr<PrefixCache> cache, Selection selection)
    : cache_(std::move(cache)), selection_(std::move(selection)) {}

CacheWatch::~CacheWatch() { cache_->remove_watch(*this); }

Result<std::unique_ptr<WatchStream>> CacheWatch::make(std::shared_ptr<PrefixCache> cache, Selection selection, const Start& start) {
  auto stream = std::make_unique<CacheWatch>(std::move(cache), std::move(selection));
  if (auto status = stream->begin(start); !status.ok()) return status;
  stream->cache_->add_watch(*stream);
  return std::unique_ptr<WatchStream>(std::move(stream));
}

Status CacheWatch::begin(const Start& start) {
  waiter_.topic = selection_.topic();
  waiter_.wants_bookmarks = start.bookmarks;
  if (start.bookmarks) waiter_.bookmark_due = first_bookmark(start.timeout_seconds);
  position_ = skip_to_ = start.after;
  if (start.snapshot) {
    phase_ = Phase::kSnapshot;
    end_bookmark_ = start.end_bookmark;
    initial_ = std::make_unique<IndexScan>(start.snapshot->index, selection_);
  }
  const auto cursor = cache_->log().cursor_after(start.after);
  if (!cursor) return start.snapshot ? too_old() : begin_past();
  cursor_ = *cursor;
  return {};
}

// Begins with events that are read from the store, because the log no longer has them. So a watcher can resume after a restart of the
// server.
Status CacheWatch::begin_past() {
  auto history = cache_->store().storage.watch(cache_->config().prefix, position_);
  if (!history.ok()) return history.status().reason() == Reason::kExpired ? too_old() : std::move(history.status());
  history_ = std::move(*history);
  phase_ = Phase::kHistory;
  return {};
}

Status CacheWatch::too_old() const {
  return expired("too old resource version: " + std::to_string(position_) + " (" + std::to_string(cache_->log().floor()) + ")");
}

// ---- delivering events

Task<Result<std::vector<WatchEvent>>> CacheWatch::next() {
  Events events;
  while (!cancelled_.load() && phase_ != Phase::kEnded) {
    Status status;
    bool drained = false;
    if (phase_ == Phase::kSnapshot) {
      take_snapshot(events);
    } else if (phase_ == Phase::kHistory) {
      auto reading = take_history(events);
      status = co_await std::move(reading);
    } else {
      status = take_log(events, drained);
    }
    if (cancelled_.load()) break;
    if (!status.ok()) {
      phase_ = Phase::kEnded;
      co_return status;
    }
    if (events.empty() && drained) take_bookmark(events);
    if (!events.empty()) co_return events;
    if (drained) cursor_ = co_await cache_->log().wait(waiter_, cursor_);
    if (phase_ == Phase::kSnapshot) co_await Yield{};
  }
  co_return Events{};
}

void CacheWatch::cancel() {
  cancelled_.store(true);
  cache_->log().cancel(waiter_);
  if (history_) history_->cancel();
}

void CacheWatch::take_snapshot(Events& events) {
  constexpr auto kAdded = WatchEvent::Type::kAdded;
  IndexScan::Found found;
  initial_->take(found, kInitialBatch);
  for (const ObjectRef* entry : found) events.push_back({kAdded, *entry});
  initial_->release();
  if (!found.empty()) cache_metrics::initial_events(cache_->config().resource, found.size());
  if (initial_->left() > 0) return;
  initial_.reset();
  phase_ = Phase::kLog;
  if (end_bookmark_) events.push_back(cache_->builder().bookmark(position_, true));
}

Task<Status> CacheWatch::take_history(Events& events) {
  auto reading = history_->next();
  auto batch = co_await std::move(reading);
  if (!batch.ok()) co_return batch.status().reason() == Reason::kExpired ? too_old() : std::move(batch.status());
  for (const auto& event : batch->events) {
    // A watch also ends if the log has an event whose object is unreadable.
    if (event.kv.unreadable) co_return too_old();
    const LogRecord record = record_of(event);
    if (record.object) select(record, events);
  }
  position_ = batch->revision;
  if (const auto cursor = cache_->log().cursor_after(position_)) {
    cursor_ = *cursor;
    // The events of the log up to this revision have been delivered.
    skip_to_ = position_;
    phase_ = Phase::kLog;
  }
  co_return Status{};
}

// The record of an event of the store. LogRecord::object is null if the event is a deletion without the previous value.
LogRecord CacheWatch::record_of(const StorageEvent& event) const {
  const EntryBuilder& builder = cache_->builder();
  LogRecord record;
  record.revision = event.kv.mod_revision;
  if (!event.previous.empty()) {
    KeyValue before;
    before.key = event.kv.key;
    before.value = event.previous;
    before.mod_revision = event.previous_revision;
    record.previous = builder.build(before, WatchEvent::Type::kModified);
  }
  ObjectRef entry;
  if (event.type == StorageEvent::Type::kDelete) {
    record.type = WatchEvent::Type::kDeleted;
    if (!record.previous) return record;
    entry = builder.at_revision(*record.previous, record.revision, record.type);
  } else {
    record.type = record.previous ? WatchEvent::Type::kModified : WatchEvent::Type::kAdded;
    entry = builder.build(event.kv, record.type);
  }
  record.object = std::move(entry);
  return record;
}

Status CacheWatch::take_log(Events& events, bool& drained) {
  // The progress must be read before the log, so that the log has all events up to this progress.
  const Revision progress = cache_->store().progress.revision();
  const auto slice = cache_->log().read(cursor_);
  using State = EventLog::Slice::State;
  if (slice.state == State::kLagged) {
    count_terminated(cache_->config().resource);
    return too_old();
  }
  if (slice.state == State::kClosed) phase_ = Phase::kEnded;
  if (slice.state == State::kEmpty) {
    position_ = std::max(position_, progress);
    drained = true;
  }
  for (const auto& records : slice.records) {
    for (const LogRecord& record : records) {
      position_ = std::max(position_, record.revision);
      if (record.revision > skip_to_) select(record, events);
    }
  }
  cursor_ = slice.next;
  return {};
}

void CacheWatch::take_bookmark(Events& events) {
  const auto now = EventLog::Clock::now();
  if (!waiter_.wants_bookmarks || now < waiter_.bookmark_due) return;
  waiter_.bookmark_due = now + kBookmarkPeriod;
  events.push_back(cache_->builder().bookmark(position_, false));
}

// Appends the event that the change is for a client with these selectors, if any.
void CacheWatch::select(const LogRecord& record, Events& events) {
  if (!selection_.covers(*record.object)) return;
  if (!selection_.selects()) {
    events.push_back({record.type, record.object});
    return;
  }
  using Type = WatchEvent::Type;
  const bool now = record.type != Type::kDeleted && selection_.selected(*record.object);
  const bool before = record.previous && selection_.selected(*record.previous);
  if (now) {
    events.push_back({before ? Type::kModified : Type::kAdded, record.object});
  } else if (before && record.type == Type::kDeleted) {
    events.push_back({Type::kDeleted, record.object});
  } else if (before) {
    events.push_back({Type::kDeleted, cache_->builder().at_revision(*record.previous, record.revision, Type::kDeleted)});
  }
}

// ---- PrefixCache::watch

namespace {

// The start of a watch, by upstream's rules.
struct WatchPlan {
  bool initial = false;           // begin with synthetic ADDED events
  bool consistent = false;        // the newest state is required
  Revision not_older = 0;         // if `initial` is set: the revision that the state must have reached
  std::optional<Revision> after;  // the requested resourceVersion; nullopt: none
};

Result<WatchPlan> plan_watch(const ListOptions& options) {
  auto revision = parse_resource_version(options.resource_version);
  if (!revision.ok()) return std::move(revision.status());
  WatchPlan plan;
  plan.consistent = options.resource_version.empty();
  plan.initial = options.send_initial_events.value_or(*revision == 0);
  if (plan.initial) {
    plan.not_older = *revision;
  } else if (*revision != 0) {
    plan.after = *revision;
  }
  return plan;
}

}  // namespace

Task<Result<std::unique_ptr<WatchStream>>> PrefixCache::watch(CacheScope scope, ListOptions options) {
  auto selection = Selection::make(config_, scope, options);
  if (!selection.ok()) co_return std::move(selection.status());
  auto plan = plan_watch(options);
  if (!plan.ok()) co_return std::move(plan.status());
  auto loading = ensure_ready();
  auto status = co_await std::move(loading);
  if (!status.ok()) co_return status;
  // As upstream, errors after this point are events of the stream.
  ListPlan fresh_enough;
  fresh_enough.at = plan->consistent ? ListPlan::At::kConsistent : ListPlan::At::kNotOlderThan;
  fresh_enough.revision = plan->not_older;
  auto freshening = fresh(std::move(fresh_enough));
  auto view = co_await std::move(freshening);
  if (!view.ok()) co_return make_failed_watch(std::move(view.status()));

  CacheWatch::Start start;
  if (plan->initial) start.snapshot = view->snapshot;
  start.after = plan->after.value_or(view->revision);
  start.bookmarks = options.allow_watch_bookmarks;
  start.end_bookmark = options.allow_watch_bookmarks && options.send_initial_events.value_or(false);
  start.timeout_seconds = options.timeout_seconds;
  auto stream = CacheWatch::make(shared_from_this(), std::move(*selection), start);
  if (!stream.ok()) co_return make_failed_watch(std::move(stream.status()));
  co_return stream;
}

}  // namespace backplane
