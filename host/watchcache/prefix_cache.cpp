#include "watchcache/prefix_cache.hpp"

#include <algorithm>

#include "backplane/core/task_set.hpp"
#include "backplane/points/storage_feed.hpp"
#include "base/caught.hpp"
#include "base/heap_room.hpp"
#include "storage/temporary_failure.hpp"
#include "watchcache/cache_metrics.hpp"
#include "watchcache/cache_watch.hpp"
#include "watchcache/log.hpp"
#include "watchcache/page_reader.hpp"

namespace backplane {
namespace {

constexpr int kLoadAttempts = 3;
constexpr std::chrono::seconds kLoadAgain{1};
constexpr int kRetryAfterSeconds = 1;
// The limit of the size of events that are buffered while the cache loads. If it is exceeded, the load starts again.
constexpr std::size_t kMaxBuffered = 64 * 1024 * 1024;
// After a load of at least this size, freed memory is returned to the operating system.
constexpr std::size_t kMuchLoaded = 16 * 1024 * 1024;

}  // namespace

PrefixCache::PrefixCache(std::shared_ptr<FollowedStore> store, CacheConfig config)
    : store_(std::move(store)),
      builder_(std::make_shared<const EntryBuilder>(std::move(config))),
      log_(std::make_shared<EventLog>([this](EventLog::Clock::time_point due) { set_alarm(due); })),
      snapshot_(std::make_shared<const Snapshot>()) {}

ObjectRef PrefixCache::make_entry(const KeyValue& stored) const { return builder_->build(stored); }

ObjectRef PrefixCache::make_written(const KeyValue& stored) {
  if (!ready()) return make_entry(stored);
  const auto snapshot = snapshot_.get();
  if (snapshot->changed < stored.mod_revision) {
    return written_.get(stored, [&] { return make_entry(stored); });
  }
  // The pump has already applied the event of this write.
  ObjectRef known = snapshot->index.find(stored.key);
  return known && known->revision == stored.mod_revision ? known : make_entry(stored);
}

const Status* Snapshot::unreadable_at(std::string_view key) const {
  if (!unreadable) return nullptr;
  const auto found = unreadable->find(key);
  return found != unreadable->end() ? found->second.get() : nullptr;
}

Unreadable Snapshot::unreadable_in(std::string_view from, std::string_view end) const {
  if (!unreadable) return {};
  return Unreadable(unreadable->lower_bound(from), unreadable->lower_bound(end));
}

namespace {

// One error for all unreadable objects: upstream's StorageReadError.
Status read_error(const ObjectStorage& storage, const GroupResource& resource, const Unreadable& objects) {
  constexpr std::size_t kMost = 100;  // upstream's corruptObjErrAggregatorFactory(100)
  StatusDetails details;
  details.name = "list";
  details.group = resource.group;
  details.kind = resource.resource;
  for (const auto& [key, why] : objects) {
    if (details.causes.size() == kMost) {
      details.causes.push_back({"FieldValueTooMany", "too many errors, the list is truncated", ""});
      break;
    }
    const StatusDetails* of_object = why->details();
    const std::string& text = of_object != nullptr && !of_object->causes.empty() ? of_object->causes.front().message : why->message();
    details.causes.push_back({"UnexpectedServerResponse", text, storage.backend_key(key)});
  }
  Status refused(500, Reason::kStorageReadError, "failed to read one or more " + resource.to_string() + " from the storage");
  return std::move(refused).with_details(std::move(details));
}

}  // namespace

void FollowedStore::follow(std::shared_ptr<StorageWatch> by) {
  const std::lock_guard lock(mutex_);
  watch_ = std::move(by);
}

std::shared_ptr<StorageWatch> FollowedStore::followed_by() const {
  const std::lock_guard lock(mutex_);
  return watch_;
}

Status FollowedStore::check_history(Revision followed, Revision answered) {
  if (answered >= followed) return {};
  std::shared_ptr<StorageWatch> watch;
  {
    const std::lock_guard lock(mutex_);
    // Only the first caller that detects the loss cancels the watch.
    if (watch_ != cancelled_watch_) watch = cancelled_watch_ = watch_;
  }
  if (watch) {
    watchcache_log().error(
        "the store's history has gone back: it was restored from a backup or made anew; everything is loaded again from={} to={}", followed,
        answered);
    watch->cancel();
  }
  return too_many_requests("storage is (re)initializing", 1);
}

Unreadable PrefixCache::unreadable(const CacheScope& scope) const {
  const auto snapshot = snapshot_.get();
  if (snapshot->unreadable == nullptr) return {};  // the usual case, without further cost
  const auto selection = Selection::make(config_, scope, {});
  return selection.ok() ? snapshot->unreadable_in(selection->start(), selection->end()) : Unreadable();
}

Status PrefixCache::list_refusal(const CacheScope& scope) const {
  const Unreadable objects = store_->options.names_unreadable ? unreadable(scope) : Unreadable();
  return objects.empty() ? Status() : read_error(store_->storage, config_.resource, objects);
}

ObjectRef PrefixCache::peek(std::string_view key) const { return snapshot_.get()->index.find(key); }

Revision PrefixCache::revision() const noexcept {
  const Revision progress = store_->progress.revision();
  return std::max(progress, snapshot_.get()->changed);
}

std::optional<View> PrefixCache::newest() const {
  // The order of these reads matters. invalidate() runs before the progress passes lost events: if this progress includes lost events, the
  // cache is not ready, or has been loaded again. A snapshot that is read after the progress includes everything up to the progress.
  const Revision progress = store_->progress.revision();
  if (!ready()) return std::nullopt;
  View view;
  view.snapshot = snapshot_.get();
  view.revision = std::max(progress, view.snapshot->changed);
  return view;
}

// ---- loading

void PrefixCache::request_load() {
  {
    std::lock_guard lock(load_mutex_);
    if (state_.load() != State::kIdle || !store_->started.load()) return;
    if (EventLog::Clock::now() < load_not_before_) return;
    state_.store(State::kLoading);
    load_error_ = Status();
  }
  if (!store_->tasks.spawn(store_->executor, "load " + config_.prefix, load(shared_from_this()))) end_load(false);
}

void PrefixCache::load_eagerly() {
  eager_.store(true);
  request_load();
}

Task<Status> PrefixCache::ensure_ready() {
  if (ready()) co_return Status{};
  request_load();
  Promise<bool> loaded;
  {
    std::lock_guard lock(load_mutex_);
    const State state = state_.load();
    if (state == State::kReady) co_return Status{};
    if (state == State::kClosed) co_return service_unavailable("the resource is no longer served");
    if (state == State::kLoading) load_waiters_.push_back(loaded);
    if (state == State::kIdle) loaded.set(false);
  }
  const bool done = co_await within(kReadWait, loaded);
  co_return done ? Status{} : not_loaded();
}

// Returns the error of the last load if the store cannot be read (500), because waiting does not help the client; otherwise 429.
Status PrefixCache::not_loaded() {
  std::lock_guard lock(load_mutex_);
  if (state_.load() == State::kIdle && load_error_.code() == 500) return load_error_;
  return too_many_requests("storage is (re)initializing", kRetryAfterSeconds);
}

Task<void> PrefixCache::load([[maybe_unused]] std::shared_ptr<PrefixCache> self) {
  bool loaded = false;
  for (int attempt = 0; attempt < kLoadAttempts && !loaded && !store_->stopping.load(); ++attempt) {
    try {
      loaded = co_await try_load();
    } catch (...) {
      const Caught bug = caught();
      watchcache_log().error("loading failed prefix={} error={}{}", config_.prefix, bug.what, bug.stack);
    }
  }
  buffering_ = false;
  buffer_ = {};
  end_load(loaded);
  if (!loaded || bytes() < kMuchLoaded) co_return;
  // The memory of the pages that were read from the store is as large as the loaded objects, and is free now.
  auto returning = run_blocking(return_heap_room);
  co_await std::move(returning);
}

Task<bool> PrefixCache::try_load() {
  // From here on the pump buffers events. finish_load() drops the events that load_once() has read already.
  buffering_ = true;
  lost_some_ = false;
  buffer_.clear();
  buffered_bytes_ = 0;
  LoadedObjects loaded;
  auto loading = load_once(loaded);
  auto status = co_await std::move(loading);
  if (status.ok() && lost_some_) status = service_unavailable("the store's history was lost meanwhile");
  if (status.ok()) co_return finish_load(std::move(loaded));
  watchcache_log().warn("loading failed prefix={} error={}", config_.prefix, status.message());
  std::lock_guard lock(load_mutex_);
  load_error_ = std::move(status);
  co_return false;
}

namespace {

constexpr int kRetriedObjects = 8;

bool is_temporarily_unreadable(const StorageEvent* event) { return event->kv.unreadable && is_temporary_failure(*event->kv.unreadable); }

// `key`: the key in the backend (backend_key).
void log_unreadable(const std::string& key, const Status& why) {
  watchcache_log().error(
      "an object cannot be read; check --encryption-provider-config and its keys; a lost object can only be deleted or overwritten key={} "
      "error={:?}",
      key, why.message());
}

}  // namespace

Task<Status> PrefixCache::load_once(LoadedObjects& loaded) {
  PageReader pages(store_, config_.prefix);
  ChunkBuilder building(builder_, store_->storage, store_->tasks, store_->executor);
  while (!pages.done()) {
    auto reading = pages.next();
    auto page = co_await std::move(reading);
    if (!page.ok()) co_return std::move(page.status());
    loaded.revision = page->revision;
    auto adding = building.add(std::move(page->items), loaded);
    auto status = co_await std::move(adding);
    if (!status.ok()) co_return status;
  }
  auto ending = building.finish(loaded);
  co_await std::move(ending);
  // The load fails if an object is unreadable only temporarily. Otherwise clients would assume that lists without it are complete.
  for (const auto& [_, why] : loaded.unreadable) {
    if (is_temporary_failure(*why)) co_return *why;
  }
  co_return Status{};
}

bool PrefixCache::finish_load(LoadedObjects loaded) {
  {
    std::lock_guard lock(load_mutex_);
    if (state_.load() == State::kClosed) return false;
  }
  for (const auto& [key, why] : loaded.unreadable) {
    log_unreadable(store_->storage.backend_key(key), *why);
    cache_metrics::decode_error(config_.resource);
  }
  cache_metrics::loaded(config_.resource, loaded.index.size() + loaded.unreadable.size());
  index_ = std::move(loaded.index);
  unreadable_ = loaded.unreadable.empty() ? nullptr : std::make_shared<const Unreadable>(std::move(loaded.unreadable));
  if (unreadable_) retry_unreadable_later();
  loaded_ = loaded.revision;
  bytes_.store(loaded.bytes, std::memory_order_relaxed);
  log_->reset(loaded_);
  publish(loaded_);
  std::vector<const StorageEvent*> missed;
  for (const auto& event : buffer_) missed.push_back(&event);
  apply_now(missed);
  return true;
}

void PrefixCache::end_load(bool loaded) {
  std::vector<Promise<bool>> waiters;
  const auto again = EventLog::Clock::now() + kLoadAgain;
  {
    std::lock_guard lock(load_mutex_);
    if (state_.load() != State::kClosed) state_.store(loaded ? State::kReady : State::kIdle, std::memory_order_release);
    if (!loaded) load_not_before_ = again;
    waiters.swap(load_waiters_);
  }
  for (auto& waiter : waiters) waiter.set(loaded);
  // An eager cache is loaded again even if no client requests it.
  if (!loaded && eager_.load()) set_alarm(again);
}

// ---- following

void PrefixCache::apply(const std::vector<const StorageEvent*>& events) noexcept {
  try {
    if (buffering_) {
      buffer(events);
    } else if (ready()) {
      apply_now(events);
    }
  } catch (...) {
    const Caught bug = caught();
    watchcache_log().error("applying events failed, reloading prefix={} error={}{}", config_.prefix, bug.what, bug.stack);
    buffer_.clear();
    invalidate(events.back()->kv.mod_revision);
  }
}

void PrefixCache::buffer(const std::vector<const StorageEvent*>& events) {
  if (lost_some_) return;
  lost_some_ = std::any_of(events.begin(), events.end(), is_temporarily_unreadable);
  for (const auto* event : events) {
    buffered_bytes_ += sizeof *event + event->kv.key.size() + event->kv.value.size() + event->previous.size();
    buffer_.push_back(*event);
  }
  if (buffered_bytes_ <= kMaxBuffered && !lost_some_) return;
  lost_some_ = true;
  buffer_ = {};
}

void PrefixCache::apply_now(const std::vector<const StorageEvent*>& events) {
  if (std::any_of(events.begin(), events.end(), is_temporarily_unreadable)) {
    watchcache_log().warn("an event cannot be decrypted at the moment, reloading prefix={}", config_.prefix);
    return invalidate(events.back()->kv.mod_revision);
  }
  std::vector<LogRecord> records;
  records.reserve(events.size());
  Revision last = 0;
  Revision gap = 0;  // the revision of the last event whose object is unreadable
  for (const auto* event : events) {
    if (event->kv.mod_revision <= loaded_) continue;
    last = event->kv.mod_revision;
    if (event->kv.unreadable) gap = last;
    apply_event(*event, records);
  }
  if (last == 0) return;
  cache_metrics::received(config_.resource, events.size());
  // The snapshot is published before the events: a client that has received an event then reads a state that includes it.
  publish(last);
  for (const auto* event : events) written_.release(event->kv);
  // Watches end before an event whose object cannot be decoded; the clients then list again and get the reason.
  if (gap != 0) log_->reset(gap);
  std::erase_if(records, [gap](const LogRecord& record) { return record.revision <= gap; });
  if (records.empty()) return;
  cache_metrics::dispatched(config_.resource, records.size());
  log_->append(std::move(records), bytes());
}

void PrefixCache::apply_event(const StorageEvent& event, std::vector<LogRecord>& records) {
  const bool was_unreadable = forget_unreadable(event.kv.key);
  if (event.kv.unreadable) return note_unreadable(event);
  LogRecord record;
  record.revision = event.kv.mod_revision;
  ObjectRef entry;
  if (event.type == StorageEvent::Type::kDelete) {
    record.type = WatchEvent::Type::kDeleted;
    record.previous = index_.remove(event.kv.key);
    if (!record.previous) return;
    entry = builder_->at_revision(*record.previous, record.revision, record.type);
    count(record.previous.get(), nullptr);
  } else {
    const bool is_new = event.previous_revision == 0 || was_unreadable;
    record.type = is_new ? WatchEvent::Type::kAdded : WatchEvent::Type::kModified;
    entry = written_.get(event.kv, [&] { return builder_->build(event.kv, record.type); });
    if (entry->event() != record.type) entry = builder_->build(event.kv, record.type);
    record.previous = index_.put(entry);
    count(record.previous.get(), entry.get());
  }
  record.object = std::move(entry);
  records.push_back(std::move(record));
}

bool PrefixCache::forget_unreadable(std::string_view key) {
  if (!unreadable_ || !unreadable_->contains(key)) return false;
  Unreadable left = *unreadable_;
  left.erase(left.find(key));
  unreadable_ = left.empty() ? nullptr : std::make_shared<const Unreadable>(std::move(left));
  return true;
}

void PrefixCache::note_unreadable(const StorageEvent& event) {
  log_unreadable(store_->storage.backend_key(event.kv.key), *event.kv.unreadable);
  cache_metrics::decode_error(config_.resource);
  const ObjectRef before = index_.remove(event.kv.key);
  if (before) count(before.get(), nullptr);
  Unreadable all = unreadable_ ? *unreadable_ : Unreadable();
  all.emplace(event.kv.key, event.kv.unreadable);
  unreadable_ = std::make_shared<const Unreadable>(std::move(all));
  retry_unreadable_later();
}

void PrefixCache::retry_unreadable_later() {
  retry_at_ = EventLog::Clock::now() + store_->options.retry_unreadable;
  set_alarm(retry_at_);
}

// Reads a few unreadable objects again, because a key service may have their key again, and no event reports that.
Task<void> PrefixCache::retry_unreadable([[maybe_unused]] std::shared_ptr<PrefixCache> self) {
  const auto unreadable = unreadable_;
  if (!unreadable || !ready()) co_return;
  auto each = unreadable->begin();
  for (int left = kRetriedObjects; left > 0 && each != unreadable->end() && !store_->stopping.load(); --left, ++each) {
    RangeRequest request;
    request.start = each->first;
    auto reading = store_->storage.range(std::move(request));
    auto found = co_await std::move(reading);
    if (!found.ok() || found->items.empty() || found->items.front().unreadable) continue;
    watchcache_log().info("an object is readable again, reloading prefix={}", config_.prefix);
    invalidate(revision());
    co_return;
  }
  retry_unreadable_later();
}

void PrefixCache::count(const ObjectEntry* removed, const ObjectEntry* added) {
  std::size_t bytes = bytes_.load(std::memory_order_relaxed);
  if (added != nullptr) bytes += added->json_size();
  // Without min(), the difference could be negative: loaded objects were counted without their resourceVersion.
  if (removed != nullptr) bytes -= std::min(bytes, removed->json_size());
  bytes_.store(index_.empty() ? 0 : bytes, std::memory_order_relaxed);
}

void PrefixCache::publish(Revision changed) {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->index = index_.share();
  snapshot->changed = changed;
  snapshot->unreadable = unreadable_;
  size_.store(index_.size(), std::memory_order_relaxed);
  snapshot_.set(std::move(snapshot));
}

void PrefixCache::invalidate(Revision revision) {
  bool was_in_use = false;
  {
    std::lock_guard lock(load_mutex_);
    lost_some_ = true;  // a load in progress starts again
    was_in_use = state_.load() == State::kReady;
    if (was_in_use) state_.store(State::kIdle, std::memory_order_release);
  }
  if (!was_in_use) return;
  log_->reset(revision);
  request_load();
}

// ---- timers, watches, sizes

void PrefixCache::tick(EventLog::Clock::time_point now) {
  log_->tick(now);
  if (const auto due = log_->next_due()) set_alarm(*due);
  if (eager_.load()) request_load();
  if (retry_at_ <= now) {
    retry_at_ = EventLog::Clock::time_point::max();
    (void)store_->tasks.spawn(store_->executor, "retry " + config_.prefix, retry_unreadable(shared_from_this()));
  }
  std::deque<Pin> dropped;
  std::lock_guard lock(pins_mutex_);
  while (!pins_.empty() && pins_.front().until <= now) {
    dropped.push_back(std::move(pins_.front()));
    pins_.erase(pins_.begin());
  }
  if (!pins_.empty()) set_alarm(pins_.front().until);
}

void PrefixCache::add_watch(CacheWatch& watch) {
  const std::lock_guard lock(watches_mutex_);
  watches_.insert(&watch);
}

void PrefixCache::remove_watch(CacheWatch& watch) noexcept {
  const std::lock_guard lock(watches_mutex_);
  watches_.erase(&watch);
}

// Holds the lock during the calls, so that no stream is destroyed meanwhile. cancel() resumes no coroutine inside the call, so no deadlock
// is possible.
void PrefixCache::end_watches() {
  const std::lock_guard lock(watches_mutex_);
  for (CacheWatch* const watch : watches_) watch->cancel();
}

void PrefixCache::close() {
  {
    std::lock_guard lock(load_mutex_);
    state_.store(State::kClosed);
  }
  end_load(false);
  log_->close();
}

std::optional<View> PrefixCache::at(Revision revision) const {
  if (store_->has_forgotten(revision)) return std::nullopt;
  auto view = newest();
  if (view && view->snapshot->changed <= revision && revision <= view->revision) {
    view->revision = revision;
    return view;
  }
  std::lock_guard lock(pins_mutex_);
  for (const auto& pin : pins_) {
    if (pin.revision == revision) return View{pin.snapshot, revision};
  }
  return std::nullopt;
}

void PrefixCache::pin(const View& view) {
  std::shared_ptr<const Snapshot> dropped;
  const auto until = EventLog::Clock::now() + kPinTime;
  std::lock_guard lock(pins_mutex_);
  for (const auto& pin : pins_) {
    if (pin.revision == view.revision) return;
  }
  if (pins_.empty()) set_alarm(until);
  if (pins_.size() >= kMaxPins) {
    dropped = std::move(pins_.front().snapshot);
    pins_.erase(pins_.begin());
  }
  pins_.push_back({view.revision, view.snapshot, until});
}

}  // namespace backplane
