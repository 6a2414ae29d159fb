// The cache of one resource. The pump (cache_hub.cpp) publishes a snapshot, which lists and gets read, and appends events to a log, which
// watches read.
//
// Thread-safety: the ResourceCache methods from any thread; apply(), load(), invalidate() and tick() on the pump's executor.
// Lifetime:      shared by the hub, its users and their watch streams.
// Errors:        as ResourceCache.
#pragma once

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "backplane/kit/published.hpp"
#include "base/task_group.hpp"
#include "watchcache/chunk_builder.hpp"
#include "watchcache/due_caches.hpp"
#include "watchcache/entry.hpp"
#include "watchcache/event_log.hpp"
#include "watchcache/object_index.hpp"
#include "watchcache/paced_revisions.hpp"
#include "watchcache/progress.hpp"
#include "watchcache/progress_requests.hpp"
#include "watchcache/resource_cache.hpp"
#include "watchcache/selection.hpp"
#include "watchcache/written_entries.hpp"

namespace backplane {

// The time that a read waits for the cache to reach a revision; after that the read fails (upstream's blockTimeout).
inline constexpr std::chrono::seconds kReadWait{3};
// The interval of bookmarks.
inline constexpr std::chrono::seconds kBookmarkPeriod{60};
// The number of snapshots that are retained for the next pages of lists, and the time for which each is retained.
inline constexpr std::size_t kMaxPins = 32;
inline constexpr std::chrono::minutes kPinTime{5};

class CacheWatch;
class PrefixCache;

// The data that all caches of a hub share.
struct FollowedStore {
  FollowedStore(ObjectStorage& followed, Executor& pump, CacheOptions how) : storage(followed), executor(pump), options(std::move(how)) {}

  bool has_forgotten(Revision revision) const noexcept {
    const Revision forgotten = options.compacted != nullptr ? options.compacted->load(std::memory_order_acquire) : 0;
    return revision < forgotten && forgotten <= progress.revision();
  }
  // Checks the revision `answered`, which the store has returned. `followed`: the revision that the caches had reached before the request.
  // If `answered` is lower, the store has lost commits (it was restored from a backup or replaced); then all caches are loaded again.
  // Errors: kTooManyRequests if the store has lost commits.
  Status check_history(Revision followed, Revision answered);
  // Sets the watch on the store that delivers the events of all caches; null: none.
  void follow(std::shared_ptr<StorageWatch> by);
  std::shared_ptr<StorageWatch> followed_by() const;

  ObjectStorage& storage;
  Executor& executor;
  const CacheOptions options;
  Progress progress;
  DueCaches<PrefixCache> alarms;
  LoggedTaskGroup tasks;
  ProgressRequests requests;
  PacedRevisions paced;
  std::atomic<bool> started{false};
  std::atomic<bool> stopping{false};

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<StorageWatch> watch_;
  std::shared_ptr<StorageWatch> cancelled_watch_;  // the last watch that check_history() has cancelled
};

// The state of the resource from the revision `changed` on, until the next snapshot is published.
struct Snapshot {
  ObjectIndex index;
  Revision changed = 0;
  std::shared_ptr<const Unreadable> unreadable;  // null: all can be read

  // The reason why the object of the key cannot be read; null: it can be read, or does not exist.
  const Status* unreadable_at(std::string_view key) const;
  // The unreadable objects of [from, end).
  Unreadable unreadable_in(std::string_view from, std::string_view end) const;
};

// A snapshot and the revision at which it is read.
struct View {
  std::shared_ptr<const Snapshot> snapshot;
  Revision revision = 0;
};

// The state that a list or get reads, and the part of it that is returned.
struct ListPlan {
  enum class At : unsigned char { kConsistent, kAny, kNotOlderThan, kExact };
  At at = At::kConsistent;
  Revision revision = 0;
  std::string from;
  std::int64_t limit = 0;  // 0: all
  bool continued = false;
  bool paced = true;  // may use PacedRevisions for the store's revision
};

class PrefixCache final : public ResourceCache, public std::enable_shared_from_this<PrefixCache> {
 public:
  PrefixCache(std::shared_ptr<FollowedStore> store, CacheConfig config);

  ObjectRef make_entry(const KeyValue& stored) const override;
  ObjectRef make_written(const KeyValue& stored) override;
  ObjectRef peek(std::string_view key) const override;
  Task<Status> wait_current() override { return wait_current(/*paced=*/true); }
  Task<Result<ObjectRef>> get(std::string key, std::string resource_version) override;
  Task<Result<ListResult>> list(CacheScope scope, ListOptions options) override;
  Task<Result<std::unique_ptr<WatchStream>>> watch(CacheScope scope, ListOptions options) override;
  void end_watches() override;
  void supersede() override { log_->close(); }
  Unreadable unreadable(const CacheScope& scope) const override;
  Status list_refusal(const CacheScope& scope) const override;
  bool ready() const noexcept override { return state_.load(std::memory_order_acquire) == State::kReady; }
  Revision revision() const noexcept override;
  std::size_t size() const noexcept override { return size_.load(std::memory_order_relaxed); }
  std::size_t bytes() const noexcept override { return bytes_.load(std::memory_order_relaxed); }

  const CacheConfig& config() const noexcept { return config_; }
  const EntryBuilder& builder() const noexcept { return *builder_; }
  EventLog& log() noexcept { return *log_; }
  FollowedStore& store() noexcept { return *store_; }
  // The newest state; nullopt while the cache is not loaded.
  std::optional<View> newest() const;
  // Registers a stream that end_watches() ends, until remove_watch().
  void add_watch(CacheWatch& watch);
  void remove_watch(CacheWatch& watch) noexcept;

  // Starts to load, unless the cache is loaded or loading, the hub has not started, or a load has failed shortly before.
  void request_load();
  // Loads without waiting for a request, and retries until a load succeeds.
  void load_eagerly();
  // Applies events of this resource, in order. Errors are logged and lead to invalidate().
  void apply(const std::vector<const StorageEvent*>& events) noexcept;
  // To be called if events were lost, before the progress passes the lost events. The next events begin after `revision`. If the cache is
  // loaded, ends its watches and loads it again; reads wait for the load. A load in progress starts again.
  void invalidate(Revision revision);
  // Runs the timers that are due, and registers the next one in FollowedStore::alarms.
  void tick(EventLog::Clock::time_point now);
  // Ends the watches and refuses further use.
  void close();

 private:
  enum class State : unsigned char { kIdle, kLoading, kReady, kClosed };
  struct Pin {
    Revision revision = 0;
    std::shared_ptr<const Snapshot> snapshot;
    EventLog::Clock::time_point until;
  };

  Task<Status> ensure_ready();
  Task<void> load(std::shared_ptr<PrefixCache> self);
  Task<bool> try_load();
  Task<Status> load_once(LoadedObjects& loaded);
  void buffer(const std::vector<const StorageEvent*>& events);
  bool finish_load(LoadedObjects loaded);
  void end_load(bool loaded);
  // The error of requests whose wait for a load has failed or timed out.
  Status not_loaded();
  void apply_now(const std::vector<const StorageEvent*>& events);
  void apply_event(const StorageEvent& event, std::vector<LogRecord>& records);
  // Reads a few of the unreadable objects again; loads the cache again if one has become readable.
  Task<void> retry_unreadable(std::shared_ptr<PrefixCache> self);
  void retry_unreadable_later();
  // Removes a key from the unreadable objects; false: it was not among them.
  bool forget_unreadable(std::string_view key);
  // Adds the object of an event to the unreadable objects.
  void note_unreadable(const StorageEvent& event);
  void publish(Revision changed);
  void set_alarm(EventLog::Clock::time_point due) { store_->alarms.set(due, weak_from_this()); }
  void count(const ObjectEntry* removed, const ObjectEntry* added);

  // The state at exactly `revision`, if the cache still has it.
  std::optional<View> at(Revision revision) const;
  void pin(const View& view);
  Task<Status> wait_current(bool paced);
  // Waits until `revision` is reached.  Errors: kTimeout ResourceVersionTooLarge.
  Task<Status> wait_for(Revision revision);
  // True if the read must include all commits of the store, so the store's revision is required.
  bool is_confirmed(const ListPlan& plan) const noexcept;
  // The newest state, if it is fresh enough for `plan`. If the plan requires a confirmed state, it must include all changes up to
  // `committed`.
  std::optional<View> fresh_now(const ListPlan& plan, Revision committed) const;
  // Waits until the newest state is fresh enough for `plan`, and returns it.
  Task<Result<View>> fresh(ListPlan plan);
  Task<Status> make_fresh(const ListPlan& plan);
  Task<Result<ListResult>> page(View view, Selection selection, ListPlan plan);
  Task<Result<ListResult>> list_from_store(Selection selection, ListPlan plan);

  const std::shared_ptr<FollowedStore> store_;
  const std::shared_ptr<const EntryBuilder> builder_;
  const CacheConfig& config_ = builder_->config();
  const std::shared_ptr<EventLog> log_;
  kit::Published<Snapshot> snapshot_;
  std::atomic<State> state_{State::kIdle};
  std::atomic<bool> eager_{false};
  std::atomic<std::size_t> bytes_{0};
  std::atomic<std::size_t> size_{0};

  std::mutex load_mutex_;                          // guards changes of state_, and the three members below
  EventLog::Clock::time_point load_not_before_{};  // a pause after a failed load
  std::vector<Promise<bool>> load_waiters_;
  Status load_error_;  // the store's error of the last load

  WrittenEntries written_;
  std::mutex watches_mutex_;
  std::unordered_set<CacheWatch*> watches_;

  mutable std::mutex pins_mutex_;
  std::vector<Pin> pins_;

  // Used by the pump only.
  ObjectIndex index_;
  std::shared_ptr<const Unreadable> unreadable_;
  EventLog::Clock::time_point retry_at_ = EventLog::Clock::time_point::max();  // when unreadable objects are read again
  Revision loaded_ = 0;
  bool buffering_ = false;
  bool lost_some_ = false;  // events were lost during the load, so buffer_ is incomplete
  std::vector<StorageEvent> buffer_;
  std::size_t buffered_bytes_ = 0;
};

// Parses a resourceVersion.  Errors: 500 without a reason, worded as upstream's versioner.
Result<Revision> parse_resource_version(std::string_view text);

}  // namespace backplane
